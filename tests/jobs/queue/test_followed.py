"""A process ends with its last job, and then one job follows, exactly once."""

import threading

import pytest
from django.db import connection

from jobs import queue
from jobs.models import Process, uuid7
from jobs.queue import processes
from tests.jobs.conftest import SimulatedWorker, expire_lease
from tests.jobs.members import add, counts, has_ended, has_followed, rest, start
from tests.testapp.models import Chore, Hooked
from tests.testapp.summaries import Book, KeepSummaries

pytestmark = pytest.mark.django_db(transaction=True)


# The end


def test_an_unsealed_process_does_not_end(worker):
    process = start("a", sealed=False, then=rest())
    worker.succeed(worker.claim_one())
    assert not has_ended(process)

    processes.seal(process)

    assert process.ended_at
    assert has_followed() == 1


def test_an_empty_process_ends_when_it_is_sealed():
    process = start(then=rest())

    assert (process.percent, process.total) == (100, 0)
    assert process.ended_at
    assert has_followed() == 1


def test_sealing_twice_changes_nothing():
    process = start(then=rest())
    ended_at = process.ended_at

    processes.seal(process)

    assert (process.ended_at, has_followed()) == (ended_at, 1)


def test_what_follows_is_there_only_after_the_last_job(worker):
    start("a", "b", then=rest())
    first, last = worker.claim(slots=2)

    worker.succeed(first)
    assert has_followed() == 0
    worker.succeed(last)

    assert has_followed() == 1


def test_what_follows_can_be_a_job_of_any_model(worker):
    start("a", then=Hooked(name="after", colour="blue", max_attempts=1))

    worker.succeed(worker.claim_one())

    job = Hooked.objects.get()
    assert (job.name, job.colour, job.max_attempts, job.status) == ("after", "blue", 1, "queued")
    worker.succeed(worker.claim_one(Hooked))


def test_a_canceled_process_is_followed_too():
    start("a", "b", then=rest())

    queue.cancel(Chore.objects.all())

    assert has_followed() == 1


def test_a_poisonous_job_is_the_last_one_too(worker):
    process = start("a", then=rest())
    Chore.objects.update(interruptions=2)
    [job] = worker.claim(suspect=True)
    expire_lease(job)

    queue.rescue(Chore)

    assert counts(process) == (1, 0, 1, 0)
    assert has_followed() == 1


def test_many_workers_that_end_the_last_jobs_at_once_let_it_follow_once():
    process = start(*"abcdefgh", then=rest())
    held = [SimulatedWorker(f"w{n}") for n in range(4)]
    claims = [worker.claim(slots=2) for worker in held]
    together = threading.Barrier(4)

    def settle(worker, jobs):
        together.wait()
        for job in jobs:
            assert worker.succeed(job) == []
        connection.close()

    threads = [
        threading.Thread(target=settle, args=pair) for pair in zip(held, claims, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert counts(process) == (8, 0, 0, 0)
    assert has_followed() == 1


# Jobs that add jobs


def test_a_running_job_adds_jobs_to_its_own_process(worker):
    process = start("a", then=rest())
    job = worker.claim_one()

    add(process, "b")
    worker.succeed(job)
    assert not has_ended(process)
    worker.succeed(worker.claim_one())

    assert counts(process) == (2, 0, 0, 0)
    assert has_followed() == 1


def test_the_last_job_can_add_another_one_in_its_hook(worker, monkeypatch):
    process = start("a", then=rest())
    job = worker.claim_one()
    monkeypatch.setattr(Chore, "on_success", lambda self, result: add(process, "b"))

    assert worker.succeed(job) == []

    assert counts(process) == (2, 1, 0, 0)
    assert not has_ended(process)
    assert has_followed() == 0


def test_a_hook_that_raises_counts_nothing(worker):
    process = processes.start("hooks")
    queue.enqueue([Hooked(name="a", raises_in="on_success", process_id=process.pk)])
    processes.seal(process)

    worker.succeed(worker.claim_one(Hooked))

    assert counts(process) == (1, 1, 0, 0)
    assert not has_ended(process)


# What can't follow


def test_a_model_that_is_gone_keeps_no_job_from_ending(worker, caplog):
    process = start("a", then=rest())
    Process.objects.update(follow={"model": "testapp.gone", "pk": str(uuid7()), "fields": {}})

    assert worker.succeed(worker.claim_one()) == []

    assert has_ended(process)
    assert "testapp.gone" in process.follow_error
    assert process.followed_at is None
    assert "Nothing follows" in caplog.text


def test_a_broken_constraint_keeps_no_job_from_ending(worker, caplog):
    process = start("a", then=Chore(name="rest", max_attempts=0))

    assert worker.succeed(worker.claim_one()) == []

    assert has_ended(process)
    assert "chore_attempts" in process.follow_error


def test_a_deferred_constraint_is_not_the_last_jobs_fault(worker, caplog):
    process = start("a", then=KeepSummaries(book_id=77, asked=uuid7()))

    assert worker.succeed(worker.claim_one()) == []

    assert Chore.objects.get().status == "succeeded"
    assert has_ended(process)
    assert process.follow_error
    assert not KeepSummaries.objects.exists()


def test_what_could_not_follow_is_tried_again_when_the_process_ends_again(worker, caplog):
    process = start("a", then=KeepSummaries(book_id=77, asked=uuid7()))
    worker.succeed(worker.claim_one())
    Book.objects.create(id=77, title="Birds")

    queue.requeue(Chore.objects.all())
    worker.succeed(worker.claim_one())

    assert has_ended(process)
    assert (process.follow_error, bool(process.followed_at)) == ("", True)
    assert KeepSummaries.objects.count() == 1


def test_what_exists_already_does_not_follow_again(worker):
    start("a", "rest", then=rest())

    worker.succeed(*worker.claim(slots=2))

    assert has_followed() == 1


def test_what_is_enqueued_or_in_a_process_can_not_follow(chore):
    with pytest.raises(ValueError, match="can't follow"):
        processes.start("x", then=chore)
    with pytest.raises(ValueError, match="can't follow"):
        processes.start("x", then=Chore(name="x", process_id=uuid7()))

    assert not Process.objects.exists()
