"""A process counts its jobs in the transactions that move them."""

import threading
from contextlib import suppress

import pytest
from django.db import connection, transaction
from django.db.models import F

from jobs import queue
from jobs.db import sessions
from jobs.errors import PermanentError, ProcessEnded
from jobs.models import Outcome, Process
from jobs.queue import processes
from jobs.queue.outcomes import End
from tests.jobs.conftest import SimulatedWorker, elsewhere, expire_lease
from tests.jobs.databases import SHORT
from tests.jobs.members import add, counts, has_ended, has_followed, rest, start
from tests.testapp.models import Chore, NoopJob

pytestmark = pytest.mark.django_db(transaction=True)


# Counting


def test_a_process_counts_its_jobs_as_they_end(worker):
    process = start("a", "b", "c")
    succeeding, failing, canceled = worker.claim(slots=3)

    worker.succeed(succeeding)
    worker.fail(failing, PermanentError("no broom"))
    assert not has_ended(process)
    queue.cancel(Chore.objects.filter(id=canceled.id))

    assert counts(process) == (3, 0, 1, 1)
    assert (process.succeeded, process.percent) == (1, 100)
    assert has_ended(process)


def test_a_job_that_comes_back_is_still_open(worker):
    process = start("a")

    worker.fail(worker.claim_one(), ValueError("this time"))

    assert counts(process) == (1, 1, 0, 0)


def test_a_job_that_exists_already_is_counted_once():
    process = start("a", "b", sealed=False)

    add(process, "b", "c")

    assert counts(process) == (3, 3, 0, 0)


def test_a_job_that_is_given_twice_is_counted_once():
    process = start(sealed=False)
    job = Chore(name="a", process_id=process.pk)

    queue.enqueue([job, job])

    assert counts(process) == (1, 1, 0, 0)


def test_jobs_of_any_model_belong_to_a_process(worker):
    process = start("a", sealed=False)
    queue.enqueue([NoopJob(process_id=process.pk)])
    processes.seal(process)

    worker.succeed(worker.claim_one(NoopJob))
    assert counts(process) == (2, 1, 0, 0)
    worker.succeed(worker.claim_one())

    assert has_ended(process)


def test_a_job_without_a_process_costs_no_query_of_one(worker, chore, django_assert_num_queries):
    job = worker.claim_one()

    with django_assert_num_queries(0):
        assert processes.note_ends([(job, "succeeded")]) == []
        processes.end_empty([])
        processes.note_requeued([job])


def test_only_an_open_process_takes_jobs(worker):
    process = start("a")
    worker.succeed(worker.claim_one())

    with pytest.raises(ProcessEnded, match="spring cleaning"):
        add(process, "b")
    with pytest.raises(ProcessEnded, match="no process"):
        add(Process(), "c")

    assert [chore.name for chore in Chore.objects.all()] == ["a"]


def test_an_end_that_a_lost_reply_repeats_counts_once(worker):
    process = start("a", "b")
    job = worker.claim(slots=1)[0]
    end = End(job, Outcome.SUCCEEDED)

    queue.settle([end])
    queue.settle([end])

    assert counts(process) == (2, 1, 0, 0)


def test_two_ends_of_one_claim_count_once(worker):
    process = start("a", "b")
    job = worker.claim(slots=1)[0]

    queue.settle([End(job, Outcome.SUCCEEDED), End(job, Outcome.SUCCEEDED)])

    assert counts(process) == (2, 1, 0, 0)


def test_a_late_worker_counts_nothing(worker, slow_worker):
    process = start("a")
    late = slow_worker.claim_one()
    expire_lease(late)
    queue.rescue(Chore)
    Chore.objects.update(run_after=F("created_at"))
    worker.succeed(worker.claim_one())

    slow_worker.succeed(late)

    assert counts(process) == (1, 0, 0, 0)


# A job of an ended process comes back


def test_a_requeued_job_opens_its_process_again_and_nothing_follows_twice(worker):
    process = start("a", then=rest())
    worker.fail(worker.claim_one(), PermanentError("no broom"))
    assert counts(process) == (1, 0, 1, 0)
    Chore.objects.filter(name="rest").update(status="canceled", finished_at=F("created_at"))

    queue.requeue(Chore.objects.filter(name="a"))
    assert counts(process) == (1, 1, 0, 0)
    assert not has_ended(process)
    worker.succeed(worker.claim_one())

    assert counts(process) == (1, 0, 0, 0)
    assert has_ended(process)
    assert has_followed() == 1
    assert not Chore.objects.filter(name="rest", status="queued").exists()


def test_a_job_may_join_a_process_that_a_requeue_opened(worker):
    process = start("a")
    worker.succeed(worker.claim_one())
    queue.requeue(Chore.objects.all())

    add(process, "b")

    assert counts(process) == (2, 2, 0, 0)


def test_deleting_ended_jobs_changes_no_count(worker):
    process = start("a", "b", then=rest())
    first, last = worker.claim(slots=2)
    worker.succeed(first)

    Chore.objects.filter(id=first.id).delete()
    assert counts(process) == (2, 1, 0, 0)
    worker.succeed(last)

    assert has_ended(process)
    assert has_followed() == 1


def test_a_recount_finds_jobs_that_were_deleted_past_the_queue(worker):
    process = start("a", "b", "c", then=rest())
    worker.succeed(worker.claim_one())
    Chore.objects.filter(name="b")._raw_delete("default")

    processes.recount(process.pk)
    assert counts(process) == (3, 1, 0, 0)
    Chore.objects.filter(name="c")._raw_delete("default")
    processes.recount(process.pk)

    assert has_ended(process)
    assert has_followed() == 1


# Locks


@pytest.mark.postgres
def test_a_locked_process_holds_up_only_its_own_jobs(worker):
    locked, free = start("a"), start("b")
    jobs = worker.claim(slots=2)

    with elsewhere(lambda: lock(locked)), sessions.with_patience(SHORT):
        [missed] = worker.succeed(*jobs)

    assert missed.is_busy
    assert missed.job.process_id == locked.pk
    assert has_ended(free)
    assert worker.succeed(missed.job) == []
    assert has_ended(locked)


def lock(process):
    list(Process.objects.filter(pk=process.pk).select_for_update())


@pytest.mark.postgres
def test_two_processes_that_end_in_opposite_order_do_not_deadlock():
    """Each settles jobs of both processes, in many rounds at once."""
    first, second = start(*"acegik"), start(*"bdfhjl")
    rounds = [SimulatedWorker("w0"), SimulatedWorker("w1")]
    claims = {worker.name: worker.claim(slots=6) for worker in rounds}
    claims["w1"].reverse()
    together = threading.Barrier(2)
    missed = []

    def settle(worker):
        for pair in zip(claims[worker.name][::2], claims[worker.name][1::2], strict=True):
            together.wait()
            missed.extend(worker.succeed(*pair))
        connection.close()

    threads = [threading.Thread(target=settle, args=[worker]) for worker in rounds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert missed == []
    assert has_ended(first)
    assert has_ended(second)


def test_in_a_transaction_that_is_rolled_back_nothing_is_counted():
    process = start("a", sealed=False)

    with suppress(RuntimeError), transaction.atomic():
        add(process, "b")
        raise RuntimeError

    assert counts(process) == (1, 1, 0, 0)
