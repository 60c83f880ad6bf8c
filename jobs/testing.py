"""For the tests of a project: performs jobs at once, without a worker process and its threads."""

import time
from datetime import timedelta

from jobs import queue
from jobs.models import Job
from jobs.run import Pulse, Run
from jobs.worker import crew

WORKER = "test"
LEASE = timedelta(minutes=1)


def perform_due(model: type[Job], most: int = 100) -> int:
    """Claim, perform and settle the due jobs of this model once; returns how many there were.

    What a job raises becomes its end, as in a worker. Works within a test's transaction.
    """
    jobs = queue.claim(model, most, WORKER, LEASE)
    pulse = Pulse(LEASE.total_seconds())
    queue.settle([crew.perform(Run(job, pulse, time.monotonic()), WORKER) for job in jobs])
    return len(jobs)
