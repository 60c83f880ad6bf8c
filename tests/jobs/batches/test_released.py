"""Calls that a batch lets go: bought once by the next one, whenever a worker dies."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from jobs import queue
from jobs.errors import BadRequest, BatchTooLarge, NoBatches, OperatorsFault, ProviderUnavailable
from jobs.models import Call, Outcome, State, Status
from jobs.paid import limits
from jobs.paid.batches import course, creating, members
from jobs.paid.batches.models import Batch, BatchQuerySet
from tests.jobs.batches.conftest import (
    orders,
    perform_all,
    perform_due,
    provider,
    reopen,
    settle,
    step,
    workers,
)
from tests.jobs.conftest import LEASE, expire_lease
from tests.jobs.orders import run_of
from tests.testapp.models import Order


def step_and_die(*errors):
    """The next step of the first batch, whose worker dies before it is settled."""
    Batch.objects.filter(status=Status.QUEUED).update(run_after=Now())
    [batch] = queue.claim(Batch, 1, next(workers), LEASE)
    if errors:
        with pytest.raises(errors):
            batch.perform(run_of(batch))
    else:
        batch.perform(run_of(batch))
    expire_lease(batch)
    queue.rescue(Batch)


def go_on(bureau):
    """Everything to its end."""
    for _ in range(12):
        reopen()
        if Batch.objects.living().exists():
            step()
        for id, batch in bureau.batches.items():
            if batch["state"] == "in_progress":
                bureau.finish(id)
        perform_all(Order)


def dying_in(monkeypatch, owner, name, *, after=False):
    """Let the worker die once in this function."""
    real = getattr(owner, name)

    def fatal(*arguments, **options):
        monkeypatch.setattr(owner, name, real)
        if after:
            real(*arguments, **options)
        raise SystemExit

    monkeypatch.setattr(owner, name, fatal)


def test_a_batch_that_let_its_calls_go_is_not_created_when_its_worker_died(bureau):
    bureau.faults["create"] = BatchTooLarge(reason="token_limit_exceeded")
    orders("a", "b", "c", "d")
    step_and_die()
    go_on(bureau)

    assert bureau.billed == dict.fromkeys("abcd", 1)
    assert set(Order.objects.values_list("status", flat=True)) == {Status.SUCCEEDED}


def test_a_batch_that_let_its_calls_go_is_not_created_when_a_person_requeues_it(bureau):
    bureau.faults["create"] = BatchTooLarge(reason="token_limit_exceeded")
    orders("a", "b")
    step()
    queue.requeue(Batch.objects.filter(status=Status.SUCCEEDED))
    go_on(bureau)

    assert bureau.billed == {"a": 1, "b": 1}


def test_a_worker_that_dies_while_it_lets_calls_go_strands_none(bureau, monkeypatch):
    bureau.faults["create"] = BatchTooLarge(reason="token_limit_exceeded")
    orders("a", "b")
    dying_in(monkeypatch, BatchQuerySet, "collect_soon")
    step_and_die(SystemExit)
    go_on(bureau)

    assert bureau.billed == {"a": 1, "b": 1}
    assert set(Order.objects.values_list("status", flat=True)) == {Status.SUCCEEDED}


def test_a_worker_that_dies_after_collecting_leaves_a_batch_for_the_rest(
    bureau, monkeypatch, settings
):
    settings.BATCH_MOST_CALLS = 1
    orders("a", "b")
    dying_in(monkeypatch, BatchQuerySet, "collect_soon")
    step_and_die(SystemExit)
    step()

    assert Call.objects.uncollected().count() == 1
    assert Batch.objects.filter(collected_at=None).count() == 1


def test_a_worker_that_dies_over_a_bad_line_blames_no_other(bureau, monkeypatch):
    orders("a", "b", "c")
    step()
    bureau.remote = {"error": BadRequest("line 2 is wrong"), "bad_line": 2}
    bureau.lines = lambda lines: []
    bureau.finish(state="failed")
    dying_in(monkeypatch, members, "release")
    step_and_die(SystemExit)
    step()
    bureau.remote, bureau.lines = {}, None
    go_on(bureau)

    assert bureau.billed == {"a": 1, "c": 1}
    assert list(Order.objects.filter(status=Status.FAILED).values_list("name", flat=True)) == ["b"]


def test_a_smaller_batch_is_asked_for_although_one_is_collecting(bureau):
    orders("a", "b", "c", "d")
    bureau.faults["create"] = BatchTooLarge(reason="token_limit_exceeded")
    upload = bureau.upload

    def and_another_call_comes(*arguments):
        bureau.upload = upload
        orders("e")
        return upload(*arguments)

    bureau.upload = and_another_call_comes
    step()
    reopen()
    step()

    assert [len(batch["prompts"]) for batch in bureau.batches.values()] == [2]


def test_a_batch_that_the_provider_could_not_process_waits_and_goes_again(bureau):
    orders("lamp")
    for _ in range(7):  # more often than a line of its own may fail
        reopen()
        step()
        bureau.remote = {"error": ProviderUnavailable(reason="internal error")}
        bureau.lines = lambda lines: []
        bureau.finish(state="failed")
        step()
        bureau.remote, bureau.lines = {}, None
        assert provider().paused_until is not None
        assert provider().spent == 0
    go_on(bureau)

    assert bureau.billed == {"lamp": 1}
    assert Order.objects.get().status == Status.SUCCEEDED


def test_a_full_disk_of_this_machine_fails_no_request(bureau, monkeypatch):
    orders("lamp")
    folder = creating.tempfile.TemporaryDirectory
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(
        creating.tempfile, "TemporaryDirectory", lambda: (_ for _ in ()).throw(full)
    )
    ends = [step() for _ in range(4)]
    monkeypatch.setattr(creating.tempfile, "TemporaryDirectory", folder)
    assert {end.outcome for end in ends} == {Outcome.UNAVAILABLE}
    go_on(bureau)

    assert bureau.billed == {"lamp": 1}
    assert Order.objects.get().status == Status.SUCCEEDED


def test_a_call_that_no_batch_takes_for_weeks_gets_the_error(bureau):
    orders("lamp")
    Call.objects.update(started_at=Now() - timedelta(days=15))
    bureau.faults["create"] = BatchTooLarge(reason="token_limit_exceeded")
    step()
    reopen()
    [end] = perform_all(Order)

    assert "token_limit_exceeded" in str(end.error)
    assert Order.objects.get().status == Status.FAILED


def test_a_batch_that_may_exist_is_not_bought_beside_when_batches_are_gone(bureau, monkeypatch):
    bureau.lose_reply, bureau.is_listed = True, False
    orders("lamp")
    step()
    monkeypatch.setattr(course.services, "batch_client", lambda name: None)
    end = step()

    assert isinstance(end.error, OperatorsFault)
    assert not isinstance(end.error, NoBatches)
    assert Call.objects.get().state == State.INTENT
    assert provider().spent == provider().cost(batch=True)


def test_a_repeated_withdrawal_leaves_a_later_creation_alone(bureau):
    orders("lamp")
    Batch.objects.update(run_after=Now())
    [batch] = queue.claim(Batch, 1, next(workers), LEASE)
    batch.create_sent_at = None
    stale = Batch.objects.get()
    stale.create_sent_at = batch.created_at - timedelta(seconds=9)  # its intent is withdrawn
    settle(batch)
    Batch.objects.update(remote_id="")  # created, and not recorded yet
    creating._withdraw(stale, run_of(batch), RuntimeError("too late"))

    assert Batch.objects.get().create_sent_at is not None
    assert provider().spent == provider().cost(batch=True)


def test_a_batch_that_can_not_even_collect_leaves_its_calls_to_another(bureau, monkeypatch):
    orders("lamp")
    monkeypatch.setattr(limits, "refuse_if_closed", lambda provider: 1 / 0)
    for _ in range(3):
        step()
    assert Batch.objects.filter(status=Status.FAILED).count() == 1
    collecting = Batch.objects.filter(collected_at=None, status=Status.QUEUED)
    assert collecting.count() == 1

    queue.requeue(Batch.objects.filter(status=Status.FAILED))  # does no harm

    assert collecting.count() == 1


@pytest.mark.parametrize(("state", "calls"), [("waiting", 1), ("intent", 2)])
def test_a_call_of_a_deleted_batch_is_asked_for_again(bureau, state, calls):
    orders("lamp")
    step()
    Call.objects.update(state=state)
    Batch.objects.all()._raw_delete("default")
    Order.objects.update(run_after=Now())

    assert perform_due(Order).outcome == Outcome.SNOOZED

    assert Call.objects.uncollected().count() == 1
    assert Call.objects.count() == calls
    assert Batch.objects.filter(collected_at=None).count() == 1


def test_an_unbilled_line_gives_its_price_back_once_though_the_worker_dies(bureau, monkeypatch):
    orders("lamp", "chair")
    step()
    bureau.lines = lambda lines: [lines[0], {"key": lines[1]["key"], "error": "bad"}]
    bureau.finish()
    dying_in(monkeypatch, members.limits, "book", after=True)
    step_and_die(SystemExit)
    step()

    assert provider().spent == provider().cost(batch=True)
