import pytest

from jobs import queue
from jobs.models import Attempt, Status
from tests.jobs import processes
from tests.jobs.processes import (
    all_ended,
    count_processing,
    enqueue_chores,
    outcomes_of,
    prelude,
    wait_until,
)
from tests.testapp.models import Chore, NoopJob

pytestmark = pytest.mark.django_db(transaction=True)
start = processes.start

ONE_SECOND_PER_CHORE = prelude("Chore.timeout = timedelta(seconds=1)")


def test_a_job_that_hangs_gives_its_slot_back(start):
    [hung] = enqueue_chores(1, script="hang", max_attempts=1)
    worker = start(before=ONE_SECOND_PER_CHORE, slots=1)
    wait_until(Chore.objects.filter(epoch__gt=0).exists)  # it may have timed out by now

    queue.enqueue([NoopJob()])  # its timeout is a minute, so it is not the one that times out
    wait_until(lambda: NoopJob.objects.get().status == Status.SUCCEEDED and all_ended())

    job = Chore.objects.get(id=hung)
    assert (job.status, job.error_kind, job.attempts) == (Status.FAILED, "TimedOut", 1)
    assert outcomes_of(hung) == ["timed_out"]
    assert not worker.has_ended


@pytest.mark.long
def test_a_worker_full_of_hanging_threads_ends_for_its_supervisor(start):
    enqueue_chores(6, script="hang", max_attempts=1)
    [waiting] = enqueue_chores(1, priority=1)

    worker = start(before=ONE_SECOND_PER_CHORE, slots=2)

    assert worker.exit_code() == 1
    assert "threads hang" in worker.log
    assert count_processing() == 0
    timed_out = Attempt.objects.filter(outcome="timed_out").count()
    assert timed_out >= 2
    assert Chore.objects.filter(status=Status.FAILED).count() == timed_out
    assert not worker.is_listed
    assert Chore.objects.get(id=waiting).status == Status.QUEUED
