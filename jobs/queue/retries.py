"""How long a job waits before the queue retries it."""

import logging
import math
import random
from datetime import timedelta

from jobs.db import clock
from jobs.models import Job

log = logging.getLogger(__name__)


def after(job: Job, error: BaseException) -> timedelta | None:
    """How long a job waits after a failure of its own; None: it is not tried again."""
    try:
        chosen = job.choose_wait(error)
    except Exception as fault:  # code of the application, asked while a failure is recorded
        log.error("%s can't choose how long it waits", job, exc_info=fault)
        chosen = None
    if chosen is None:
        return backoff(type(job), job.attempts + 1)
    return None if chosen == math.inf else clock.bounded(chosen)


def backoff(model: type[Job], failures: int) -> timedelta:
    """Exponential with full jitter, so that jobs that failed together don't return together."""
    doublings = min(max(failures, 1) - 1, 32)
    longest: timedelta = min(model.backoff_base * 2**doublings, model.backoff_cap)
    return longest * random.random()


def wait_for_provider(model: type[Job], retry_after: object) -> timedelta:
    """A little more than the provider asked for; if it named no time, a jittered default."""
    if retry_after is None:
        return model.backoff_cap * random.uniform(0.05, 0.1)
    wait = clock.bounded(retry_after, shortest=1.0) * random.uniform(1, 1.1)
    return min(wait, model.patience)


def wait_after_loss(interruptions: int) -> timedelta:
    """A short wait, so that a poison job doesn't kill one worker right after the other."""
    return timedelta(seconds=random.uniform(0, 2**interruptions))
