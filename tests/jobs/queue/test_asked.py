"""What a person can ask of the queue and of a worker, beyond a plain requeue or cancel."""

from unittest.mock import Mock

import pytest

from jobs import queue
from jobs.console import actions, audit
from jobs.errors import PermanentError
from jobs.models import Status, Worker
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.jobs.conftest import new_chore
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_job_requeued_first_in_line_is_claimed_next(worker, chore):
    worker.fail(worker.claim_one(), PermanentError("no"))
    new_chore("urgent", priority=-5)

    queue.requeue(Chore.objects.filter(id=chore.id), first=True)

    assert worker.claim_one().id == chore.id


def test_requeueing_resets_the_priority_that_first_in_line_gave(worker, chore):
    worker.fail(worker.claim_one(), PermanentError("no"))
    queue.requeue(Chore.objects.all(), first=True)
    worker.fail(worker.claim_one(), PermanentError("no"))

    queue.requeue(Chore.objects.all())

    assert Chore.objects.get().priority == 0


def test_a_requeue_of_failures_leaves_a_success_alone(worker, chore):
    worker.succeed(worker.claim_one())

    moved = queue.requeue(Chore.objects.all(), origins=[Status.FAILED])

    assert moved == []
    assert Chore.objects.get().status == Status.SUCCEEDED


@pytest.mark.parametrize("name", ["requeue", "cancel", "remove"])
def test_no_move_is_made_that_could_not_be_noted(worker, chore, name, monkeypatch):
    if name != "cancel":
        worker.fail(worker.claim_one(), PermanentError("no"))
    before = Chore.objects.get().status
    failure = RuntimeError("could not note it")
    monkeypatch.setattr(audit, "note_each", Mock(side_effect=failure))

    with pytest.raises(RuntimeError, match="could not note"):
        actions.carry_out(actions.ACTIONS[name], Chore.objects.all(), "me")

    assert Chore.objects.get().status == before


def test_at_most_so_many_are_moved_in_the_order_of_their_ids(chore):
    later = new_chore("dust")

    [canceled] = queue.cancel(Chore.objects.all(), most=1)

    assert canceled.id == chore.id < later.id
    assert Chore.objects.get(id=later.id).status == Status.QUEUED


def test_a_worker_that_was_asked_to_stop_does_so_at_its_next_look(chore):
    worker = Loop([Chore], Options())
    worker.heartbeat.beat()
    Worker.objects.update(asked_to_stop=True)

    assert worker.run() == 0

    assert Chore.objects.get().status == Status.QUEUED
    assert not Worker.objects.exists()
