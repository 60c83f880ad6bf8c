"""A batch is created once for its token, whatever happens to the reply."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now

from jobs import queue
from jobs.errors import (
    BadRequest,
    BatchTooLarge,
    NoBatches,
    OutcomeUnknown,
    ProviderUnavailable,
    Snooze,
)
from jobs.models import Call, Outcome, State, Status
from jobs.paid.batches import creating, members
from jobs.paid.batches.models import Batch
from tests.jobs.batches.conftest import (
    orders,
    perform_all,
    provider,
    reopen,
    settle,
    step,
    workers,
)
from tests.jobs.conftest import LEASE, expire_lease
from tests.testapp.models import Order


def test_a_lost_reply_is_found_again_in_the_list(bureau):
    bureau.lose_reply = True
    orders("lamp")
    step()

    assert Batch.objects.get().remote_id == "batch-1"
    assert bureau.requests["create"] == 1


def test_a_list_that_lags_is_looked_into_again(bureau):
    bureau.lose_reply, bureau.is_listed = True, False
    orders("lamp")
    first = step()
    pass_minutes(1)
    second = step()
    bureau.is_listed = True
    step()

    assert first.wait <= timedelta(minutes=1)
    assert timedelta(minutes=1) < second.wait <= timedelta(minutes=4)
    assert Batch.objects.get().remote_id == "batch-1"
    assert bureau.requests["create"] == 1


def test_a_creation_that_is_not_found_is_unknown_and_counts_as_paid(bureau):
    bureau.lose_reply, bureau.is_listed = True, False
    orders("lamp", "chair")
    step()
    pass_minutes(5)
    end = step()

    assert isinstance(end.error, OutcomeUnknown)
    assert bureau.requests["create"] == 1
    assert [call.state for call in Call.objects.all()] == [State.UNKNOWN] * 2
    assert provider().spent > 0
    assert Order.objects.due().count() == 2


def test_unknown_creations_are_repeated_only_so_often(bureau, settings):
    settings.UNKNOWN_REPEATS = 0
    bureau.lose_reply, bureau.is_listed = True, False
    orders("lamp")
    step()
    pass_minutes(5)
    step()

    [end] = perform_all(Order)

    assert isinstance(end.error, OutcomeUnknown)
    assert bureau.requests["create"] == 1


def test_a_worker_killed_in_create_buys_nothing_twice(bureau, monkeypatch):
    orders("lamp")
    record = creating.record
    monkeypatch.setattr(creating, "record", lambda *_: (_ for _ in ()).throw(SystemExit))
    [batch] = due_batch()
    with pytest.raises(SystemExit):
        settle(batch)
    monkeypatch.setattr(creating, "record", record)
    expire_lease(batch)
    queue.rescue(Batch)

    step()

    assert Batch.objects.get().remote_id == "batch-1"
    assert bureau.requests["create"] == 1


def test_a_worker_that_was_frozen_before_create_sends_nothing(bureau, monkeypatch):
    orders("lamp")
    [batch] = due_batch()
    begin = creating._begin

    def freeze(batch, run):
        begin(batch, run)
        run.lose("Another worker has the job.")

    monkeypatch.setattr(creating, "_begin", freeze)
    settle(batch)

    assert bureau.requests["create"] == 0
    assert provider().spent == 0
    assert Batch.objects.get().create_sent_at is None


def test_a_refused_creation_gives_the_money_back_and_is_tried_again(bureau):
    bureau.faults["create"] = ProviderUnavailable(30, "too many batches (429)")
    orders("lamp")
    end = step()

    assert end.outcome == Outcome.UNAVAILABLE
    assert provider().spent == 0
    assert provider().paused_until is not None
    reopen()
    step()
    assert Batch.objects.get().remote_id == "batch-1"


def test_an_invalid_batch_fails_its_jobs_with_the_reason(bureau):
    bureau.faults["create"] = BadRequest("no such endpoint")
    orders("lamp")
    step()

    [end] = perform_all(Order)

    assert "no such endpoint" in str(end.error)
    assert Order.objects.get().status == Status.FAILED
    assert provider().spent == 0


@pytest.mark.parametrize("method", ["upload", "create"])
def test_a_provider_without_batches_makes_the_calls_at_once(bureau, method):
    bureau.faults[method] = NoBatches(reason="404 for /batches")
    orders("lamp", "chair")
    step()

    ends = perform_all(Order)

    assert [end.outcome for end in ends] == [Outcome.SUCCEEDED] * 2
    assert "404" in provider().batch_note
    assert provider().strategy == "sync"


def test_a_batch_that_is_too_large_for_the_account_is_halved(bureau):
    bureau.faults["create"] = BatchTooLarge(reason="token_limit_exceeded")
    orders("a", "b", "c", "d")
    step()
    assert provider().paused_until is not None
    assert provider().spent == 0
    reopen()
    step()

    assert [len(batch["prompts"]) for batch in bureau.batches.values()] == [2]


def test_a_paused_provider_gets_no_batch(bureau):
    orders("lamp")
    members.Provider.objects.update(paused=True, pause_reason="by hand")
    end = step()

    assert isinstance(end.error, Snooze)
    assert bureau.requests["create"] == 0


def due_batch():
    Batch.objects.update(run_after=Now())
    return queue.claim(Batch, 1, next(workers), LEASE)


def test_batches_end_where_there_are_none_any_more(bureau, monkeypatch):
    orders("lamp")
    monkeypatch.setattr("jobs.paid.clients.services.has_batches", lambda name: False)
    monkeypatch.setattr("jobs.paid.clients.services.batch_client", lambda name: None)
    step()
    perform_all(Order)

    assert not Batch.objects.living().exists()
    assert Order.objects.get().status == Status.SUCCEEDED


def test_a_batch_that_was_made_small_grows_again(bureau):
    orders("a", "b", "c", "d")
    Batch.objects.update(most_calls=1)
    for _ in range(4):
        Batch.objects.exclude(remote_id="").update(run_after=Now() + timedelta(hours=1))
        due = Batch.objects.filter(remote_id="", status="queued")
        due.update(run_after=Now())
        for batch in queue.claim(Batch, 1, next(workers), LEASE):
            settle(batch)

    assert [len(batch["prompts"]) for batch in bureau.batches.values()] == [1, 2, 1]


def test_looking_often_does_not_make_a_creation_unknown_any_earlier(bureau):
    bureau.lose_reply, bureau.is_listed = True, False
    orders("lamp")
    for _ in range(5):
        step()

    assert Call.objects.get().state == State.INTENT


def test_jobs_canceled_after_their_batch_was_collected_are_not_bought(bureau):
    orders("lamp", "chair")
    members.Provider.objects.update(paused=False)
    bureau.faults["create"] = ProviderUnavailable(30, "busy")
    step()  # collected and uploaded, not created
    queue.cancel(Order.objects.filter(name="chair"))
    reopen()
    step()
    step()

    assert [list(batch["prompts"].values()) for batch in bureau.batches.values()] == [["lamp"]]


def test_a_failed_batch_that_was_not_sent_buys_nothing_when_it_is_requeued(bureau):
    bureau.faults["create"] = BadRequest("no such endpoint")
    orders("lamp")
    step()
    queue.requeue(Batch.objects.all())
    step()

    assert bureau.batches == {}


def test_a_file_that_the_provider_may_have_forgotten_is_uploaded_again(bureau):
    bureau.faults["create"] = ProviderUnavailable(30, "busy")
    orders("lamp")
    step()
    reopen()
    Batch.objects.update(collected_at=Now() - timedelta(days=2))
    step()

    assert bureau.requests["upload"] == 2
    assert Batch.objects.get().remote_id == "batch-1"


def pass_minutes(minutes):
    Batch.objects.update(create_sent_at=F("create_sent_at") - timedelta(minutes=minutes))
