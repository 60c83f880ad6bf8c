"""Jobs without hooks, whose successes are one statement on PostgreSQL."""

import pytest

from jobs import queue
from jobs.models import Attempt
from jobs.queue import totals
from tests.testapp.models import NoopJob

SUCCEEDED = ("testapp.NoopJob", "succeeded")


@pytest.fixture
def claim(worker):
    """Enqueue jobs without hooks and claim them, in the order of their ids."""

    def claim(number=1, **columns):
        queue.enqueue([NoopJob(**columns) for _ in range(number)])
        return sorted(worker.claim(NoopJob, slots=number), key=lambda job: job.id)

    return claim


def statuses():
    return list(NoopJob.objects.order_by("id").values_list("status", flat=True))


def number_counted():
    return totals.sums()[SUCCEEDED].number


def note_in_history(job):
    """An end of an earlier claim with the same epoch: a failover lost what came with it."""
    told = {"worker": "of another past", "started_at": "2026-01-01T00:00Z"}
    return Attempt.objects.create(
        job_id=job.id, kind=job._meta.label, epoch=job.epoch, outcome="succeeded", **told
    )
