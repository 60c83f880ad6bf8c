"""What a person asks for: requeue, cancel, delete."""

import pytest
from django.db.models.functions import Now

from jobs import queue
from jobs.errors import NotEnded, PermanentError
from jobs.models import Attempt, Status
from tests.jobs.conftest import new_chore
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_requeued_job_starts_anew_and_keeps_its_history(worker, chore):
    worker.fail(worker.claim_one(), PermanentError("no broom"))
    Chore.objects.update(interruptions=2, unavailable_since=Now())

    assert len(queue.requeue(Chore.objects.all())) == 1

    row = Chore.objects.due().get()
    assert (row.attempts, row.interruptions, row.unavailable_since) == (0, 0, None)
    assert (row.finished_at, row.epoch) == (None, 2)
    assert row.last_error == "no broom"
    assert Attempt.objects.count() == 1


def test_only_ended_jobs_are_requeued(worker):
    for name in ("running", "failed", "waiting"):
        new_chore(name)
        if name != "waiting":
            job = worker.claim_one()
        if name == "failed":
            worker.fail(job, PermanentError("no"))

    assert len(queue.requeue(Chore.objects.all())) == 1
    assert Chore.objects.get(name="running").status == Status.PROCESSING


def test_a_queued_job_is_canceled(chore):
    assert len(queue.cancel(Chore.objects.all(), "not today")) == 1

    row = Chore.objects.get()
    assert (row.status, row.last_error, row.epoch) == (Status.CANCELED, "not today", 1)
    assert not Attempt.objects.exists()


def test_a_canceled_run_can_write_nothing(worker, chore):
    held = worker.claim_one()

    queue.cancel(Chore.objects.all())

    assert [end.job for end in worker.succeed(held)] == [held]
    assert Chore.objects.get().status == Status.CANCELED
    assert Attempt.objects.get().outcome == "canceled"


def test_ended_jobs_are_not_canceled(worker, chore):
    worker.succeed(worker.claim_one())

    assert queue.cancel(Chore.objects.all()) == []
    assert Chore.objects.get().status == Status.SUCCEEDED


def test_more_jobs_than_one_chunk_holds_are_canceled_and_requeued():
    queue.enqueue(Chore(name=str(number)) for number in range(1100))

    assert len(queue.cancel(Chore.objects.all())) == 1100
    assert len(queue.requeue(Chore.objects.all())) == 1100
    assert Chore.objects.due().count() == 1100


@pytest.mark.parametrize("delete", [Chore.delete, lambda job: Chore.objects.all().delete()])
def test_only_ended_jobs_can_be_deleted(chore, delete):
    with pytest.raises(NotEnded, match="cancel it before"):
        delete(chore)
    assert Chore.objects.exists()

    queue.cancel(Chore.objects.all())
    delete(chore)

    assert not Chore.objects.exists()
