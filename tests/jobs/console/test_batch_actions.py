"""What people do with batches: only what fits, each told first, and told truly afterwards."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db.models.functions import Now
from django.urls import reverse

from jobs.models import Call, Status
from jobs.paid import limits, pausing
from jobs.paid.batches.models import Batch
from tests.jobs.batching import GEMINI, new_batch, new_member, submitted
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import ask, cards_of

pytestmark = pytest.mark.django_db

FAILED = {"status": Status.FAILED, "finished_at": Now(), "last_error": "gone", "error_kind": "x"}
SENT = {"collected_at": Now(), "create_sent_at": Now()}


def test_cancel_asks_first(operator):
    batch = submitted()

    assert (
        "What it has finished is paid for, and used." in ask(operator, batch, "cancel", "get").text
    )
    assert not Batch.objects.get().cancel_asked
    page = ask(operator, batch, "cancel").text

    assert Batch.objects.get().cancel_asked
    assert "Asked to cancel it at the provider." in page


def test_look_now_makes_it_due(operator):
    batch = submitted()

    ask(operator, batch, "look")

    assert Batch.objects.due().exists()


def test_only_what_can_be_done_is_offered(operator):
    prepared = cards_of(operator, new_batch(collected_at=Now()))
    uncertain = cards_of(operator, new_batch(**SENT, run_after=Now() + timedelta(minutes=4)))

    assert "Look now" in prepared
    assert "Cancel at the provider" not in prepared  # nothing of it is there
    assert "Look now" not in uncertain  # it looks three times, each a while after the last
    assert "Cancel at the provider" in uncertain


def test_only_calls_that_no_batch_has_are_made_at_once(operator):
    sent, prepared, collecting = submitted(), new_batch(collected_at=Now()), new_batch()
    new_member(new_chore("sent"), sent)
    new_member(new_chore("collected"), prepared, state="waiting")
    new_member(new_chore("hurried"), state="waiting", strategy="sync")
    new_member(new_chore("elsewhere"), state="waiting", provider="another")
    waits = new_member(new_chore("waits"), state="waiting")

    for batch in (sent, prepared):
        assert "Nothing was changed" in ask(operator, batch, "hurry").text
    assert "Calls that wait for a batch: 1<" in ask(operator, collecting, "hurry", "get").text
    page = ask(operator, collecting, "hurry").text

    assert "Calls that are made at once now: 1." in page
    assert "Took its waiting calls out of the batch" in page
    waits.refresh_from_db()
    assert waits.strategy == "sync"
    assert Call.objects.filter(strategy="sync").count() == 2
    assert "Nothing was changed" in ask(operator, collecting, "hurry").text


def test_nothing_is_noted_if_no_call_is_left_to_hurry(operator, monkeypatch):
    collecting = new_batch()
    new_member(new_chore("a"), state="waiting")
    gone = lambda rows, by: 0  # noqa: E731  # a worker collects them after the question
    monkeypatch.setattr("jobs.paid.batches.asked.hurry", gone)

    page = ask(operator, collecting, "hurry").text

    assert "Calls that are made at once now: 0." in page
    assert "Took its waiting calls" not in page


def test_a_batch_says_what_holds_it_up(operator):
    batch = new_batch()
    limits.find(GEMINI)
    pausing.pause(GEMINI, "quota")

    assert f"{GEMINI}: the provider is paused" in cards_of(operator, batch)
    assert "the provider is paused" not in cards_of(operator, submitted())


def test_viewers_do_not_act(viewer):
    batch = submitted()

    assert "Look now" not in cards_of(viewer, batch)
    for name in ("cancel", "look", "hurry"):
        assert ask(viewer, batch, name).status_code == 403
    assert not Batch.objects.get().cancel_asked


def test_a_failed_batch_can_be_requeued(operator):
    batch = submitted(**FAILED)

    operator.post(reverse("admin:jobs_batch_act", args=[batch.pk, "requeue"]))

    batch.refresh_from_db()
    assert (batch.status, batch.remote_id) == (Status.QUEUED, "batches/1")


def test_the_generic_cancel_leaves_batches_alone_and_names_the_right_action(operator, capsys):
    batch = submitted()

    assert (
        operator.post(reverse("admin:jobs_batch_act", args=[batch.pk, "cancel"])).status_code == 404
    )
    with pytest.raises(SystemExit):
        call_command("jobs", "cancel", str(batch.pk))

    told = capsys.readouterr().out
    assert "changed 0, left alone 1" in told
    assert "Cancel at the provider" in told
    batch.refresh_from_db()
    assert batch.status == Status.QUEUED
