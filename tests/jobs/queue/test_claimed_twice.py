"""After a failover that lost commits, a forgotten claim never overwrites the new one."""

import pytest

from jobs.models import Attempt, Status
from tests.jobs.conftest import new_chore
from tests.jobs.orders import Sender, buy, open_shop, order, run_of
from tests.testapp.models import Chore, Effect, Order

pytestmark = pytest.mark.django_db(transaction=True)


def forget_the_claim(job):
    """Undo the claim, as if its commit had not reached the server that took over."""
    type(job).objects.filter(id=job.id).update(
        status=Status.QUEUED, epoch=0, locked_at=None, locked_by=None, lease_expires_at=None
    )


def claimed_twice(first, second, model=Chore):
    """Two workers with the same epoch of the same job; the database knows only the second."""
    late = first.claim_one(model)
    forget_the_claim(late)
    current = second.claim_one(model)
    assert late.epoch == current.epoch
    return late, current


def test_the_late_workers_result_is_dropped_although_its_epoch_is_the_same(
    slow_worker, worker, chore
):
    late, current = claimed_twice(slow_worker, worker)

    [missed] = slow_worker.succeed(late, result="late")
    worker.succeed(current, result="current")

    assert missed.job is late
    assert list(Effect.objects.values_list("result", flat=True)) == ["current"]
    assert Attempt.objects.get().worker == "fast"


def test_a_worker_that_ends_the_same_claim_twice_at_once_writes_one_end(worker, chore):
    first, again = claimed_twice(worker, worker)

    [missed] = worker.succeed(first, again)

    assert missed.job is again
    assert not missed.is_busy
    assert Effect.objects.count() == Attempt.objects.count() == 1


def test_the_late_workers_failure_takes_no_attempt(slow_worker, worker, chore):
    late, _current = claimed_twice(slow_worker, worker)

    slow_worker.fail(late, ValueError("late"))

    row = Chore.objects.get()
    assert (row.status, row.attempts, row.locked_by) == (Status.PROCESSING, 0, "fast")


def test_the_late_worker_buys_nothing(slow_worker, worker):
    open_shop()
    order()
    late, _current = claimed_twice(slow_worker, worker, Order)
    send = Sender()

    with pytest.raises(Exception, match="claim is gone"):
        buy(run_of(late), send)

    assert send.sent == 0


def test_the_late_worker_reports_no_progress(slow_worker, worker, chore):
    late, _current = claimed_twice(slow_worker, worker)

    run_of(late).progress(1, 2, "late")

    assert Chore.objects.get().progress is None


def test_history_that_is_ahead_of_its_job_stops_nothing(worker, chore, caplog):
    Attempt.objects.create(
        job_id=chore.id,
        kind="testapp.Chore",
        epoch=1,
        worker="of another past",
        started_at="2026-01-01T00:00Z",
        outcome="succeeded",
    )

    assert worker.succeed(worker.claim_one()) == []

    assert Chore.objects.get().status == Status.SUCCEEDED
    assert Attempt.objects.get().worker == "of another past"
    assert "has ends of these claims already" in caplog.text


def test_history_that_is_ahead_keeps_no_other_from_being_settled(worker, chore):
    new_chore("dust")
    jobs = worker.claim(slots=2)
    Attempt.objects.create(
        job_id=chore.id,
        kind="testapp.Chore",
        epoch=1,
        worker="of another past",
        started_at="2026-01-01T00:00Z",
        outcome="succeeded",
    )

    assert worker.succeed(*jobs) == []

    assert set(Chore.objects.values_list("status", flat=True)) == {Status.SUCCEEDED}
    assert Attempt.objects.count() == 2
