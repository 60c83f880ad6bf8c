"""Does a worker's part for the jobs of some spots; other jobs stay claimed."""

import time
from datetime import timedelta

from guides.models import SpotImage, SpotImageJob
from jobs import queue
from jobs.errors import PermanentError
from jobs.models import Outcome, Status
from jobs.queue import outcomes
from jobs.queue.outcomes import End
from jobs.run import Pulse, Run

LEASE = timedelta(hours=1)  # no machine paints so slowly


def paint(*names):
    """Let the jobs of these spots succeed, with a picture each."""
    queue.settle([End(job, Outcome.SUCCEEDED, result=perform(job)) for job in claim(names)])


def paint_alike(*names):
    """Let the jobs succeed with the same picture: quick, for tests that are not about painting."""
    [first, *others] = claim(names)
    known = SpotImage.objects.first()
    picture = known.as_picture() if known else perform(first)
    ends = [End(job, Outcome.SUCCEEDED, result=picture) for job in (first, *others)]
    queue.settle(ends)


def perform(job):
    run = Run(job, Pulse(LEASE.total_seconds()), time.monotonic())
    run.start()
    return job.perform(run)


def give_up(*names):
    """Let the jobs of these spots fail for good."""
    error = PermanentError("The painter has run out of blue.")
    queue.settle([outcomes.from_error(job, error) for job in claim(names)])


def claim(names):
    queue.claim(SpotImageJob, 1000, "tester", LEASE)
    return list(SpotImageJob.objects.filter(status=Status.PROCESSING, spot_name__in=names))
