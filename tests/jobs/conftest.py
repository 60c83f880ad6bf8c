import threading
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from jobs import queue
from jobs.models import Outcome, Worker
from jobs.queue import outcomes
from jobs.queue.outcomes import End
from tests.testapp.models import Chore

LEASE = timedelta(seconds=60)


class SimulatedWorker:
    """Does a worker process's part: claims jobs and settles them."""

    def __init__(self, name):
        self.name = name

    def claim(self, model=Chore, slots=1, **options):
        return queue.claim(model, slots, self.name, LEASE, **options)

    def claim_one(self, model=Chore):
        [job] = self.claim(model)
        return job

    def succeed(self, *jobs, result="done"):
        return queue.settle([End(job, Outcome.SUCCEEDED, result=result) for job in jobs])

    def fail(self, job, error):
        return queue.settle([outcomes.from_error(job, error)])


@pytest.fixture
def worker():
    return SimulatedWorker("fast")


@pytest.fixture
def slow_worker():
    return SimulatedWorker("slow")


@pytest.fixture
def chore():
    return new_chore("sweep")


@pytest.fixture
def alive():
    """A living worker, so that the test does not meet the case without one."""
    return Worker.objects.create(
        name="w", slots=1, version="1", lease_expires_at=Now() + timedelta(hours=1)
    )


def new_chore(name, **columns):
    [id] = queue.enqueue([Chore(name=name, **columns)])
    return Chore.objects.get(id=id)


def expire_lease(job):
    """End the job's lease, as if its worker had been silent for a whole lease."""
    past = Now() - timedelta(seconds=1)
    type(job).objects.filter(id=job.id).update(lease_expires_at=past)


def make_due(job):
    """Move the job's run_after into the past."""
    past = Now() - timedelta(seconds=1)
    type(job).objects.filter(id=job.id).update(run_after=past)


def in_another_thread(call):
    """Run `call` with another connection, and so in another session of the database."""
    result = []

    def target():
        result.append(call())
        connection.close()

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    return result[0]


@contextmanager
def elsewhere(act):
    """Hold the locks that `act` takes, in another session, until the block ends."""
    locked, done = threading.Event(), threading.Event()

    def target():
        with transaction.atomic():
            act()
            locked.set()
            done.wait()
        connection.close()

    thread = threading.Thread(target=target)
    thread.start()
    assert locked.wait(60)
    try:
        yield
    finally:
        done.set()
        thread.join()
