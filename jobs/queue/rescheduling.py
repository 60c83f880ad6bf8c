"""What a person asks for: another time or another priority for jobs that are queued."""

import logging
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Least, Now
from django.utils import timezone

from jobs.db import clock, sessions
from jobs.models import Call, Job, Status
from jobs.queue import wakeup
from jobs.queue.asked import chunks
from jobs.tracing import logged

log = logging.getLogger(__name__)
JobT = TypeVar("JobT", bound=Job)
Columns = dict[str, Any]

LATEST = timedelta(days=366)  # from now
SMALLEST, LARGEST = -32_768, 32_767  # priorities


@logged
def reschedule(
    jobs: QuerySet[JobT],
    by: object = "a program",
    *,
    run_after: datetime | None = None,
    priority: int | None = None,
    most: int | None = None,
) -> list[JobT]:
    """Give queued jobs another time, another priority or both; returns them as they were before.

    A moment in the past means now. Others than queued jobs are left alone, and so is the time of
    those `in_batch`: they wait for their answer, and the batch wakes them.
    """
    columns = _columns(run_after, priority)
    movable = _movable(jobs, columns)
    moved = [job for ids in chunks(movable, most) for job in _reschedule(jobs.model, ids, columns)]
    if moved:
        wakeup.announce(jobs.model)
    log.info("%s rescheduled by %s: %d", jobs.model._meta.label, by, len(moved))
    return moved


def in_batch(jobs: QuerySet[Any]) -> QuerySet[Any]:
    """Those of these jobs that wait because their call is made in a batch."""
    return jobs.filter(_has_call_in_batch(), status=Status.QUEUED)


def _has_call_in_batch() -> Exists:
    return Exists(Call.objects.for_batch().filter(job_id=OuterRef("pk")))


def _movable(jobs: QuerySet[Any], columns: Columns) -> QuerySet[Any]:
    queued = jobs.filter(status=Status.QUEUED)
    return queued.exclude(_has_call_in_batch()) if "run_after" in columns else queued


def _reschedule(model: type[Job], ids: list[UUID], columns: Columns) -> list[Any]:
    with sessions.short_transaction():
        queued = _movable(model.objects.with_ids(ids), columns)
        rows = list(queued.order_by("id").select_for_update())
        found = model.objects.with_ids([job.id for job in rows])
        found.update(updated_at=Now(), **columns)
    return rows


def _columns(run_after: datetime | None, priority: int | None) -> Columns:
    if run_after is None and priority is None:
        raise ValueError("Neither run_after nor priority: there is nothing to change.")
    columns: Columns = {}
    if priority is not None:
        columns["priority"] = _checked_priority(priority)
    if run_after is not None:
        columns["run_after"] = _checked_time(run_after)
    return columns


def _checked_priority(priority: object) -> int:
    is_number = isinstance(priority, int) and not isinstance(priority, bool)
    if not is_number or not SMALLEST <= priority <= LARGEST:  # type: ignore[operator]
        allowed = f"a whole number from {SMALLEST} to {LARGEST}"
        raise ValueError(f"priority={priority!r}: it must be {allowed}.")
    return priority  # type: ignore[return-value]


def _checked_time(run_after: datetime) -> Any:
    if not isinstance(run_after, datetime) or timezone.is_naive(run_after):
        raise ValueError(f"run_after={run_after!r}: it must be a datetime with a time zone.")
    now = clock.now()
    if run_after > now + LATEST:
        raise ValueError(f"run_after={run_after}: at most {LATEST.days} days from now.")
    # A job that is due already must not lose its place in the line to one that came later.
    return run_after if run_after > now else Least(F("run_after"), Now())
