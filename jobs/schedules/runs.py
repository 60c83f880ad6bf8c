"""The runs of a schedule: jobs that carry its name."""

from datetime import datetime

from django.db import connection

from jobs import queue
from jobs.models import Job, Schedule, model_of
from jobs.schedules import times


class AlreadyThere(Exception):
    """A unique constraint or a unique key of its model let no other job in."""


def enqueue(schedule: Schedule, moment: datetime, scheduled_for: datetime | None) -> Job:
    """Enqueue a run in the caller's transaction. Raises AlreadyThere, and what its code raises."""
    model = _model_of(schedule)
    job = model.for_schedule(moment, **schedule.arguments)
    if not isinstance(job, model):
        raise TypeError(f"{model._meta.label}.for_schedule returned {job!r}, not a job of its kind")
    job.schedule_name = schedule.name
    job.scheduled_for = scheduled_for
    if not queue.enqueue([job]):
        raise AlreadyThere
    # A deferred constraint would be checked at COMMIT, too late to leave this run out.
    connection.check_constraints([model._meta.db_table])
    return job


def is_open(schedule: Schedule) -> bool:
    """Whether a run has not ended yet."""
    return _model_of(schedule).objects.runs_of(schedule.name).exists()


def between(schedule: Schedule, watermark: datetime, tick: datetime) -> set[datetime]:
    """The moments that have a run although they come after the watermark: it is from a backup."""
    made = _model_of(schedule).objects.filter(schedule_name=schedule.name)
    made = made.filter(scheduled_for__gt=watermark, scheduled_for__lte=tick)
    moments = made.order_by().values_list("scheduled_for", flat=True)[: times.MOST]
    return {moment for moment in moments if moment}


def _model_of(schedule: Schedule) -> type[Job]:
    model = model_of(schedule.kind)
    if model is None:
        raise LookupError(f"The kind of job {schedule.kind!r} is unknown here")
    return model
