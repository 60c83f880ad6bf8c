"""Jobs without hooks: claimed and settled by the hundred, while their workers die or freeze."""

from collections import Counter

import pytest

from jobs import queue
from jobs.models import Attempt, Status
from jobs.queue import totals
from tests.jobs import processes
from tests.jobs.processes import LEASE, wait_until
from tests.testapp.models import NoopJob

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]
start = processes.start

MANY = 4_000


@pytest.fixture
def busy(start):
    """A worker in the midst of quick jobs, and the ids of all of them."""
    worker = start("--jobs=testapp.NoopJob", lease=LEASE)
    ids = []

    def is_in_the_middle():
        if not NoopJob.objects.living().exists():  # it has been quicker than this test
            ids.extend(queue.enqueue([NoopJob() for _ in range(MANY)]))
        return worker.jobs_of(NoopJob).exists()

    wait_until(is_in_the_middle)
    return worker, ids


def have_all_succeeded():
    return not NoopJob.objects.exclude(status=Status.SUCCEEDED).exists()


def assert_each_succeeded_once(ids):
    successes = Attempt.objects.filter(outcome="succeeded").values_list("job_id", flat=True)
    assert Counter(successes) == Counter(ids)
    assert have_all_succeeded()
    assert totals.sums("outcome")["succeeded",].number == len(ids)


def test_a_worker_killed_in_the_middle_loses_and_doubles_nothing(start, busy):
    victim, ids = busy

    victim.kill()
    wait_until(processes.is_quiet)  # the server may still perform what the victim has sent
    held = victim.jobs_of(NoopJob).count()
    victim.expire(NoopJob)
    start("--jobs=testapp.NoopJob", lease=LEASE)
    wait_until(have_all_succeeded)

    assert_each_succeeded_once(ids)
    assert Attempt.objects.filter(outcome="lost").count() == held


def test_a_worker_frozen_in_the_middle_writes_nothing_over_those_who_took_over(start, busy):
    slow, ids = busy
    slow.freeze()

    slow.expire(NoopJob)
    start("--jobs=testapp.NoopJob", lease=LEASE)
    wait_until(have_all_succeeded)
    slow.resume()
    slow.terminate()

    assert slow.exit_code() == 0
    assert_each_succeeded_once(ids)
