import pytest

from jobs.models import Status
from tests.jobs import processes
from tests.jobs.processes import (
    all_ended,
    assert_each_done_once,
    count_begun,
    count_processing,
    enqueue_chores,
    outcomes_of,
    prelude,
    statuses,
    wait_until,
)
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)
start = processes.start

ONE_SECOND_OF_GRACE = prelude(
    "from jobs.worker.options import Options; Options.grace_for = lambda *_: 1"
)
# A worker that knows how long a job takes claims all jobs, and keeps them for ever.
FAR_AHEAD = prelude(
    "from jobs.worker import held, intake; intake.AHEAD = held.OVERSLEPT = 1e6; intake.QUICK = 1e6"
)
# An Event has a lock: a signal handler that sets it while its thread holds the lock hangs.
SIGNALED_WITHIN_AN_EVENT = prelude(
    """
import signal, sys, threading
def trace(frame, event, _):
    if frame.f_code is threading.Event.wait.__code__ and frame.f_back.f_code.co_name == "turn":
        if event == "line" and frame.f_locals["self"]._cond._lock.locked():
            sys.settrace(None)
            signal.raise_signal(signal.SIGTERM)
        return trace
run = Loop.run
Loop.run = lambda *worker, **options: sys.settrace(trace) or run(*worker, **options)
"""
)


def assert_released(id):
    job = Chore.objects.get(id=id)
    assert (job.status, job.attempts, job.interruptions) == (Status.QUEUED, 0, 0)
    assert outcomes_of(id) == ["released"]


def test_a_stopping_worker_finishes_what_runs_and_claims_nothing_more(start):
    enqueue_chores(5, script="sign")
    worker = start(slots=2, gate=True)
    wait_until(lambda: count_begun() == 2 and worker.is_listed)

    worker.terminate()
    wait_until(lambda: "Stopping" in worker.log)
    worker.open_gate()

    assert worker.exit_code() == 0
    assert statuses() == {Status.SUCCEEDED: 2, Status.QUEUED: 3}
    assert set(Chore.objects.filter(status="queued").values_list("epoch", flat=True)) == {0}
    assert not worker.is_listed


def test_a_stopping_worker_keeps_its_leases_while_it_drains(start):
    [id] = enqueue_chores(1, script="sign")
    worker = start(lease=4, gate=True)
    wait_until(count_begun)

    worker.terminate()
    wait_until(lambda: "Stopping" in worker.log)
    for _ in range(3):
        known = Chore.objects.get().lease_expires_at
        wait_until(lambda known=known: Chore.objects.get().lease_expires_at > known)
    worker.open_gate()

    assert worker.exit_code() == 0
    assert_each_done_once([id])
    assert outcomes_of(id) == ["succeeded"]


def test_what_was_claimed_ahead_and_not_begun_is_released_at_once(start):
    worker = start(before=FAR_AHEAD, gate=True)
    worker.open_gate()
    enqueue_chores(1)
    wait_until(all_ended)
    worker.close_gate()
    ids = enqueue_chores(20, script="sign")
    wait_until(lambda: count_processing() == 20 and count_begun() == 4)

    worker.terminate()

    wait_until(lambda: count_processing() == 4)  # the worker still waits for these four
    begun = Chore.objects.filter(progress__isnull=False).values_list("id", flat=True)
    for id in set(ids) - set(begun):
        assert_released(id)
    worker.open_gate()
    assert worker.exit_code() == 0
    assert statuses() == {Status.SUCCEEDED: 5, Status.QUEUED: 16}


def test_a_job_longer_than_the_grace_is_released_without_an_attempt(start):
    [id] = enqueue_chores(1, script="sign")
    worker = start(before=ONE_SECOND_OF_GRACE, gate=True)
    wait_until(count_begun)

    worker.terminate()

    assert worker.exit_code() == 0
    assert_released(id)


def test_a_job_that_listens_is_told_that_the_worker_stops(start):
    [id] = enqueue_chores(1, script="stop_when_told")
    worker = start()
    wait_until(count_begun)

    worker.terminate()

    assert worker.exit_code() == 0
    assert_released(id)


def test_a_second_signal_releases_at_once(start):
    [id] = enqueue_chores(1, script="sign")
    worker = start(gate=True)
    wait_until(lambda: count_begun() and worker.is_listed)

    worker.terminate()
    wait_until(lambda: "Stopping" in worker.log)
    assert count_processing() == 1
    worker.terminate()

    assert worker.exit_code() == 0
    assert_released(id)
    assert not worker.is_listed


def test_a_signal_may_come_at_any_moment(start):
    worker = start(before=SIGNALED_WITHIN_AN_EVENT)
    wait_until(lambda: worker.is_listed or worker.has_ended)

    worker.terminate()

    assert worker.exit_code() == 0
