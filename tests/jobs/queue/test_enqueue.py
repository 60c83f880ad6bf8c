import threading
import time
from itertools import count
from uuid import RFC_4122

import pytest
from django.db import IntegrityError, connection, transaction

from jobs import queue
from jobs.models import Status
from tests.testapp.models import Chore, Hooked, NoopJob

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_enqueued_job_is_queued_and_due():
    [id] = queue.enqueue([Chore(name="sweep")])

    job = Chore.objects.due().get()
    assert (job.id, job.status, job.attempts, job.max_attempts) == (id, Status.QUEUED, 0, 3)


def test_a_job_that_exists_is_skipped_and_only_new_ids_are_returned():
    [first] = queue.enqueue([Chore(name="sweep")])

    created = queue.enqueue([Chore(name="sweep"), Chore(name="dust")])

    assert created == [Chore.objects.get(name="dust").id]
    assert Chore.objects.get(name="sweep").id == first


def test_twins_in_one_call_become_one_job():
    created = queue.enqueue([Chore(name="sweep"), Chore(name="sweep")])

    assert len(created) == Chore.objects.count() == 1


def test_enqueueing_nothing_creates_nothing():
    assert queue.enqueue([]) == []


def test_a_rolled_back_caller_leaves_no_job():
    with transaction.atomic():
        queue.enqueue([Chore(name="sweep")])
        transaction.set_rollback(True)

    assert not Chore.objects.exists()


def test_many_jobs_are_enqueued_at_once():
    created = queue.enqueue(Chore(name=f"chore {number}") for number in range(2500))

    assert len(set(created)) == Chore.objects.count() == 2500


@pytest.mark.postgres
def test_any_number_of_jobs_is_one_statement(django_assert_num_queries):
    jobs = [Chore(name=f"chore {number}") for number in range(2500)]

    with transaction.atomic(), django_assert_num_queries(1):
        queue.enqueue(jobs)


def test_given_columns_are_kept_and_others_take_their_default():
    queue.enqueue([Chore(name="sweep", priority=-5), Chore(name="dust", max_attempts=7)])

    assert list(Chore.objects.order_by("name").values_list("priority", "max_attempts")) == [
        (0, 7),
        (-5, 3),
    ]


def test_defaults_that_only_python_knows_are_stored():
    queue.enqueue([Hooked(name="a")])

    job = Hooked.objects.get()
    assert (job.colour, job.max_attempts) == ("red", 2)
    assert job.noticed_at


def test_a_job_that_breaks_a_rule_is_an_error_and_not_skipped():
    with pytest.raises(IntegrityError):
        queue.enqueue([Chore(name="sweep", max_attempts=0)])


def test_ids_are_ordered_by_time_also_within_a_millisecond(monkeypatch):
    moments = count(1_800_000_000_000_000_000, 1_000)  # a microsecond apart
    monkeypatch.setattr(time, "time_ns", lambda: next(moments))

    ids = [NoopJob().id for _ in range(3_000)]

    assert {(id.version, id.variant) for id in ids} == {(7, RFC_4122)}
    assert ids == sorted(ids)
    assert ids[0].int >> 80 == 1_800_000_000_000


def test_two_who_enqueue_the_same_at_once_make_one_job():
    def enqueue():
        barrier.wait()
        created.extend(queue.enqueue([Chore(name="sweep")]))
        connection.close()

    created = []
    barrier = threading.Barrier(2)
    threads = [threading.Thread(target=enqueue) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert created == [Chore.objects.get().id]
