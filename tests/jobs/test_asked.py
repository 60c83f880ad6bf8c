"""What a person can ask of the queue and of a worker, beyond a plain requeue or cancel."""

import pytest

from jobs import queue
from jobs.errors import PermanentError
from jobs.models import Status
from jobs.models import Worker as WorkerRow
from jobs.worker.loop import Worker
from tests.jobs.conftest import new_chore
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_job_requeued_first_in_line_is_claimed_next(worker, chore):
    worker.fail(worker.claim_one(), PermanentError("no"))
    new_chore("urgent", priority=-5)

    queue.requeue(Chore.objects.filter(id=chore.id), first=True)

    assert worker.claim_one().id == chore.id


def test_who_was_first_in_line_once_is_not_for_ever(worker, chore):
    worker.fail(worker.claim_one(), PermanentError("no"))
    queue.requeue(Chore.objects.all(), first=True)
    worker.fail(worker.claim_one(), PermanentError("no"))

    queue.requeue(Chore.objects.all())

    assert Chore.objects.get().priority == 0


def test_a_requeue_of_failures_leaves_a_success_alone(worker, chore):
    worker.succeed(worker.claim_one())

    moved = queue.requeue(Chore.objects.all(), origins=[Status.FAILED])

    assert moved == (0, 1)
    assert Chore.objects.get().status == Status.SUCCEEDED


@pytest.mark.parametrize("move", [queue.requeue, queue.cancel])
def test_no_move_is_made_that_could_not_be_noted(worker, chore, move):
    if move is queue.requeue:
        worker.fail(worker.claim_one(), PermanentError("no"))
    before = Chore.objects.get().status

    def fail_to_note(jobs):
        raise RuntimeError(f"could not note {jobs}")

    with pytest.raises(RuntimeError, match="could not note"):
        move(Chore.objects.all(), note=fail_to_note)

    assert Chore.objects.get().status == before


def test_a_worker_that_was_asked_to_stop_does_so_at_its_next_look(chore):
    worker = Worker([Chore])
    worker.heartbeat.beat()
    WorkerRow.objects.update(asked_to_stop=True)

    assert worker.run() == 0

    assert Chore.objects.get().status == Status.QUEUED
    assert not WorkerRow.objects.exists()
