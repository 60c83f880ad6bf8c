"""While an operator has paused all pictures, pages and API say so, and promise nothing."""

from datetime import timedelta

import pytest

from guides.models import SpotImageJob
from jobs.db import clock
from jobs.queue import pausing
from tests.guides.batches import by_batch, have_provider
from tests.guides.conftest import save_guide
from tests.guides.history import have_worker, remember
from tests.guides.painting import claim

pytestmark = pytest.mark.django_db

KIND = SpotImageJob._meta.label


@pytest.fixture
def busy():
    """A worker and past pictures, so that estimates would be known."""
    have_worker()
    remember(5)


def waits(answer):
    return [spot["waits_for"] for spot in answer.json()["spots"]]


def test_the_status_names_the_reason_but_not_the_operators_words(ask, busy):
    save_guide("Gate")
    assert ask().json()["spots"][0]["seconds_expected"]

    pausing.pause(KIND, "the bill of ACME is unpaid", by="ada")

    answer = ask()
    [wait] = waits(answer)
    assert (wait["reason"], wait["text"]) == ("kind_paused", "this kind of job is paused")
    assert (wait["until"], wait["position"]) == (None, None)
    assert answer.json()["spots"][0]["seconds_expected"] is None
    assert "ACME" not in answer.text


def test_the_end_of_the_pause_is_told(ask, busy):
    save_guide("Gate")
    until = clock.now() + timedelta(hours=1)

    pausing.pause(KIND, "lunch", until)

    [wait] = waits(ask())
    assert wait["until"][:16] == until.isoformat()[:16]
    assert "(until " in wait["text"]


def test_a_visitor_reads_that_painting_is_paused(client, busy):
    save_guide("Gate")

    pausing.pause(KIND, "the bill of ACME is unpaid", by="ada")

    page = client.get("/guides/kyoto/").text
    assert "painting is paused for now" in page
    assert "ACME" not in page


def test_a_picture_that_is_being_made_is_still_expected(ask, busy):
    save_guide("Gate")
    claim("Gate")

    pausing.pause(KIND, "repairs")

    [spot] = ask().json()["spots"]
    assert spot["waits_for"] is None
    assert spot["seconds_expected"]


@pytest.mark.parametrize("state", [{"state": "waiting"}, {"state": "intent", "batch_id": "0" * 32}])
def test_no_picture_of_a_batch_is_promised_for_tomorrow(client, ask, settings, state):
    have_provider(settings, requests_per_minute=None, daily_budget=None)
    by_batch("Gate", **state)
    assert waits(ask())[0]["reason"] == "batch"

    pausing.pause(KIND, "repairs")

    assert waits(ask())[0]["reason"] == "kind_paused"
    for path in ("/guides/kyoto/", "/"):
        assert "tomorrow" not in client.get(path).text


def test_after_the_resume_all_is_as_before(ask, busy):
    save_guide("Gate")
    before = ask().json()["spots"]

    pausing.pause(KIND, "repairs")
    pausing.resume(KIND)

    assert ask().json()["spots"] == before
