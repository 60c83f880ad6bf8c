"""What is left for later: when the next job can start, and what no short run can start."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs.db import clock
from jobs.models import Job, Status, job_models
from jobs.paid import limits
from jobs.paid.waiting import Reason, closed_for, pause_of

Model = type[Job]


@dataclass
class Ahead:
    now: datetime  # of the database's clock
    next_at: datetime | None = None  # when the next job can start; None: no job is known
    too_slow: list[str] = field(default_factory=list)  # providers whose calls do not fit

    @property
    def is_due(self) -> bool:
        return self.next_at is not None and self.next_at <= self.now

    def wait(self) -> timedelta | None:
        """How long until the next job can start."""
        return None if self.next_at is None else max(self.next_at - self.now, timedelta(0))


def look(seconds: float) -> Ahead:
    """What is left to do for runs of this many seconds each. Schedules are not asked."""
    ahead = Ahead(clock.now())
    for model in job_models():
        moment = start_of(model, ahead.now)
        if moment is None:
            continue
        if limits.has_time(model, seconds):
            ahead.next_at = min(ahead.next_at or moment, moment)
        elif (name := model.provider_name()) and name not in ahead.too_slow:
            ahead.too_slow.append(name)
    return ahead


def start_of(model: Model, now: datetime) -> datetime | None:
    """When its next job can start; None if there is none, or a person must act first."""
    first = earliest(model, now)
    if first is None or pause_of(model):
        return None
    wait = closed_for(model)
    if wait is None or wait.reason == Reason.BUSY:  # any moment a job may end
        return first
    return max(first, wait.until) if wait.until else None


def earliest(model: Model, now: datetime) -> datetime | None:
    """When the first of its queued jobs is due.

    The index of the claim is ordered by priority first: one step in it for each priority.
    """
    first: datetime | None = None
    queued = model.objects.filter(status=Status.QUEUED).in_turn()
    left = queued
    while row := left.values_list("priority", "run_after").first():
        priority, run_after = row
        first = min(first or run_after, run_after)
        if first <= now:
            break
        left = queued.filter(priority__gt=priority)
    return first
