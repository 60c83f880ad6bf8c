"""The console's pages of batches: true in every stage, cheap, and careful about who acts."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from jobs.console import batches, needs
from jobs.errors import BadRequest, ProviderUnavailable
from jobs.models import Call, Provider, Status
from jobs.paid import limits
from jobs.paid.batches import members
from jobs.paid.batches.models import Batch
from tests.jobs.batching import GEMINI, new_batch, new_member, submitted
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import EVIL, cards_of
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db

LIST = reverse("admin:jobs_batch_changelist")
FAILED = {"status": Status.FAILED, "finished_at": Now(), "last_error": "gone", "error_kind": "x"}
DONE = {"status": Status.SUCCEEDED, "finished_at": Now(), "ended_at": Now()}


def queries(client, url):
    with CaptureQueriesContext(connection) as found:
        assert client.get(url).status_code == 200
    return len(found)


# Where it is


SENT = {"collected_at": Now(), "create_sent_at": Now()}
THERE = {**SENT, "remote_id": "b"}


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("columns", "colour", "label", "meaning"),
    [
        ({}, "info", "collecting", "Calls join it"),
        ({"collected_at": Now()}, "info", "not sent yet", "It costs nothing until"),
        (SENT, "warning", "creation uncertain", "its answer is not known"),
        ({**SENT, "cancel_asked": True}, "warning", "creation uncertain", "never created twice"),
        (THERE, "info", "at the provider", "The provider works on it"),
        ({**THERE, "cancel_asked": True}, "warning", "being canceled", "was asked to stop"),
        ({**THERE, "ended_at": Now()}, "info", "fetching results", "Its results are fetched"),
        ({**THERE, **DONE}, "success", "done", "Every result was handed to its job."),
        ({**THERE, **DONE, "total": 2}, "plain", "ended early", "not paid for waits again"),
        ({"collected_at": Now(), **DONE}, "plain", "not sent", "Its calls wait again"),
        ({**THERE, **FAILED}, "danger", "failed", "it goes on where it stopped"),
        ({**SENT, **FAILED}, "danger", "failed, creation unknown", "look there once more"),
        (FAILED, "danger", "failed, not sent", "requeue those jobs"),
    ],
)
def test_every_stage_has_its_own_words(operator, columns, colour, label, meaning):
    page = cards_of(operator, new_batch(**columns))

    assert f'tc-is-{colour}">{label}<' in page
    assert meaning in page
    assert re.search(rf">\s*{label}\s*<", operator.get(LIST).text)
    assert "waits for its next retry" not in page
    assert "waits for its turn" not in page


def test_a_batch_tells_its_numbers_its_money_and_its_names(operator):
    batch = submitted(booked=Decimal("0.20"), failed=1)
    new_member(new_chore("a"), batch, state="stored", cost=Decimal("0.015"))
    new_member(new_chore("b"), batch, error=EVIL)

    page = cards_of(operator, batch)

    for text in ("IN_PROGRESS", "batches/1", batch.token, "5 / 10 (50 %)", "0.20 USD", "0.015 USD"):
        assert text in page
    assert "<script>alert" not in page
    for job in Chore.objects.all():
        assert reverse("admin:testapp_chore_change", args=[job.id]) in page


def test_calls_that_are_asked_again_have_not_failed(operator):
    batch = submitted(**DONE, total=4, done=1, failed=3)
    new_member(new_chore("answered"), batch, state="stored", cost=Decimal("0.25"))
    new_member(new_chore("told"), batch, state="failed", error_kind="BadRequest", cost=0)
    new_member(new_chore("again"), batch, state="failed", cost=0)

    rows = operator.get(LIST).text

    assert "1 / 1 / 4" in rows
    assert "ended early" in rows
    assert "0.25 USD" in rows
    assert "asked again: 1" in cards_of(operator, batch)


def test_calls_that_left_an_ended_batch_are_told_from_those_that_failed():
    batch = submitted(total=3)
    again, bad, released = [new_member(new_chore(name), batch, request={}) for name in "abc"]
    members.again(again, ProviderUnavailable(reason="overloaded"))
    members.fail(Call.objects.filter(pk=bad.pk), BadRequest("too long"))
    members.release(Call.objects.filter(pk=released.pk))
    Batch.objects.filter(pk=batch.pk).update(**DONE)

    standing = batches.look_into(Batch.objects.get(pk=batch.pk), batch.created_at)

    assert (standing.failed, standing.unanswered) == (1, 2)
    assert standing.stage == "partly"


def test_what_is_booked_is_shown_until_it_ends(operator):
    submitted(booked=Decimal(24))

    assert "booked 24.00 USD" in operator.get(LIST).text


def test_no_number_is_shown_that_the_provider_has_not_told(operator):
    batch = submitted(done=0)

    assert "0 %" not in cards_of(operator, batch)
    assert "0 %" not in operator.get(LIST).text
    text = batches.Standing(batch, batch.created_at).text
    assert text == f"batch of 10 at {GEMINI}: at the provider"


def test_its_time_has_a_label_on_a_phone(operator):
    """There the style hides the label of "age" alone, which speaks for itself."""
    submitted()

    cell = re.search(r"<td[^>]*field-lasts[^>]*>", operator.get(LIST).text)

    assert 'data-label="time"' in cell[0]


def test_the_calls_of_ended_batches_are_added_up_once(operator):
    batch = submitted(**DONE)
    new_member(new_chore("a"), batch, state="stored")
    first = queries(operator, LIST)

    assert queries(operator, LIST) == first - 1


def test_its_calls_are_a_filtered_list(operator):
    batch = submitted()
    mine = new_member(new_chore("a"), batch)
    foreign = new_member(new_chore("b"), state="waiting")
    calls = reverse("admin:jobs_call_changelist")

    page = operator.get(f"{calls}?batch={batch.pk}").text

    assert str(mine.job_id) in page
    assert str(foreign.job_id) not in page
    for forged in ("x", "00000000-0000-0000-0000-000000000000"):
        none = operator.get(f"{calls}?batch={forged}").text
        assert str(mine.job_id) not in none
        assert str(foreign.job_id) not in none


def test_the_list_needs_no_query_per_row(operator):
    for _ in range(2):
        new_member(new_chore(f"a{_}"), submitted())
    few = queries(operator, LIST)
    for n in range(5):
        new_member(new_chore(f"b{n}"), submitted())

    assert queries(operator, LIST) == few


# What needs a person


def needed():
    return [need.kind for need in needs.needs(needs.Situation.look())]


def test_a_batch_that_takes_too_long_needs_a_person(operator):
    submitted()
    assert "old_batch" not in needed()

    late = submitted(timedelta(hours=27), remote_id="batches/late")

    assert "old_batch" in needed()
    assert "batches/late" in operator.get(f"{LIST}?stage=old").text
    assert "batches/1" not in operator.get(f"{LIST}?stage=old").text
    assert "longer than 26 hours" in cards_of(operator, late)


def test_a_failed_batch_needs_a_person():
    submitted(**FAILED)

    assert "failed" in needed()


def test_a_provider_without_batches_is_a_hint_and_no_need(monkeypatch, operator):
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: GEMINI))
    limits.find(GEMINI)
    facts = {"strategy": "batch", "batch_note": "404 from the server", "price": 1}
    Provider.objects.filter(name=GEMINI).update(**facts)

    situation = needs.Situation.look()

    [hint] = needs.hints(situation)
    assert "404 from the server" in hint.text
    assert "no_batches" not in needed()
    assert "404 from the server" in operator.get(reverse("admin:index")).text
