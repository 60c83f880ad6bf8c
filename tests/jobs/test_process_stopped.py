import pytest

from jobs.models import Attempt, Status
from tests.jobs import processes
from tests.jobs.processes import (
    assert_each_done_once,
    count_begun,
    count_effects,
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

ONE_SECOND_OF_GRACE = prelude("from jobs.worker import loop; loop._grace = lambda *_: 1")
# An Event has a lock. A handler that sets it while its own thread is within waits for ever.
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
    enqueue_chores(5, seconds=1.5, script="sign")
    worker = start(slots=2)
    wait_until(lambda: count_begun() == 2 and worker.is_listed)

    worker.terminate()

    assert worker.exit_code() == 0
    assert statuses() == {Status.SUCCEEDED: 2, Status.QUEUED: 3}
    assert set(Chore.objects.filter(status="queued").values_list("epoch", flat=True)) == {0}
    assert not worker.is_listed


def test_a_stopping_worker_keeps_its_leases_while_it_drains(start):
    [id] = enqueue_chores(1, seconds=4, script="sign")
    stopping = start()
    wait_until(count_begun)
    start()

    stopping.terminate()

    assert stopping.exit_code() == 0
    assert_each_done_once([id])
    assert outcomes_of(id) == ["succeeded"]


def test_what_was_claimed_ahead_and_not_begun_is_released_at_once(start):
    enqueue_chores(2000, seconds=0.01)
    worker = start()
    wait_until(lambda: count_processing() > 8 and count_effects() > 50)

    worker.terminate()

    assert worker.exit_code() == 0
    assert set(statuses()) == {Status.SUCCEEDED, Status.QUEUED}
    assert statuses()[Status.SUCCEEDED] == count_effects()
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"succeeded", "released"}
    assert set(Chore.objects.values_list("attempts", "interruptions")) == {(0, 0)}


def test_a_job_longer_than_the_grace_is_released_without_an_attempt(start):
    [id] = enqueue_chores(1, seconds=25, script="sign")
    worker = start(before=ONE_SECOND_OF_GRACE)
    wait_until(count_begun)

    worker.terminate()

    assert worker.exit_code(within=6) == 0
    assert_released(id)


def test_a_job_that_listens_is_told_that_the_worker_stops(start):
    [id] = enqueue_chores(1, script="stop_when_told")
    worker = start()
    wait_until(count_begun)

    worker.terminate()

    assert worker.exit_code(within=6) == 0
    assert_released(id)


def test_a_second_signal_releases_at_once(start):
    [id] = enqueue_chores(1, seconds=25, script="sign")
    worker = start()
    wait_until(lambda: count_begun() and worker.is_listed)

    worker.terminate()
    wait_until(lambda: "Stopping" in worker.log)
    assert count_processing() == 1
    worker.terminate()

    assert worker.exit_code(within=6) == 0
    assert_released(id)
    assert not worker.is_listed


def test_a_signal_may_come_at_any_moment(start):
    worker = start(before=SIGNALED_WITHIN_AN_EVENT)
    wait_until(lambda: worker.is_listed or worker.has_ended)

    worker.terminate()

    assert worker.exit_code(within=10) == 0
