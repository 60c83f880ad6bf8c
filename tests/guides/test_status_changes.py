"""A status is sent again only when it has changed."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from guides.models import SpotImageJob
from jobs.paid import pausing
from tests.guides.conftest import save_guide
from tests.guides.painting import claim
from tests.guides.statuses import show

pytestmark = pytest.mark.django_db


def test_what_has_not_changed_is_not_sent_again(ask):
    save_guide("Gate")
    etag = ask().headers["ETag"]

    answer = ask(If_None_Match=etag)

    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["ETag"] == etag
    assert etag.startswith('W/"')


def test_an_etag_counts_without_its_weakness_and_in_a_list(ask):
    save_guide("Gate")
    etag = ask().headers["ETag"]

    assert ask(If_None_Match=etag.removeprefix("W/")).status_code == 304
    assert ask(If_None_Match=f'"another", {etag}').status_code == 304
    assert ask(If_None_Match="*").status_code == 304
    assert ask(If_None_Match='"another"').status_code == 200


@pytest.mark.parametrize(
    "header", [{"If_Match": '"another"'}, {"If_Unmodified_Since": "Mon, 01 Jan 2001 00:00:00 GMT"}]
)
def test_conditions_for_those_who_write_are_no_conditions_here(ask, header):
    save_guide("Gate")

    assert ask(**header).status_code == 200


def test_position_alone_is_no_change(ask):
    save_guide("First", plan_id="other")
    save_guide("Gate")
    etag = ask().headers["ETag"]

    show("First")

    assert ask(If_None_Match=etag).status_code == 304


def pause():
    pausing.pause("painter", "lunch")


def claim_gate():
    claim(["Gate"])


def put_gate_off():
    SpotImageJob.objects.update(run_after=Now() + timedelta(hours=1))


@pytest.mark.parametrize("change", [lambda: show("Gate"), claim_gate, put_gate_off, pause])
def test_a_state_an_address_or_a_reason_is_a_change(ask, change):
    save_guide("Gate")
    etag = ask().headers["ETag"]

    change()

    assert ask(If_None_Match=etag).status_code == 200


def test_each_language_has_its_own(ask):
    save_guide("Gate")

    english, japanese = ask(Accept_Language="en"), ask(Accept_Language="ja")

    assert english.headers["ETag"] != japanese.headers["ETag"]
    assert "Accept-Language" in japanese.headers["Vary"]
