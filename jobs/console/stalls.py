"""Processes that no job can move any more, and that no other line of the console names.

What waits for a worker, a provider or a batch is told there. Here is what waits for nothing: its
jobs were deleted past the queue, or nobody has said that all of them are added.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q

from jobs import settings
from jobs.models import Process, job_models

MOST = 200  # of the oldest open processes
MOST_ENDED = 10_000  # jobs of one process: the search for an open one reads them all
UNSEALED = timedelta(hours=6)  # in which all jobs of a process should be added


def find(now: datetime) -> list[UUID]:
    """The processes that stall, among the oldest open ones: two queries of bounded size."""
    since = now - timedelta(minutes=settings.WAITING_TOO_LONG_MINUTES)
    old = Process.objects.living().filter(created_at__lt=since).order_by("created_at")
    return among(list(old.values_list("pk", flat=True)[:MOST]), now)


def among(ids: Collection[UUID], now: datetime) -> list[UUID]:
    """Those of these processes that are open and have no job that could move."""
    if not ids:
        return []
    rows = Process.objects.living().filter(
        Q(sealed=True) | Q(created_at__lt=now - UNSEALED),
        pk__in=list(ids),
        total__lte=F("open") + MOST_ENDED,
    )
    for model in job_models():
        rows = rows.exclude(Exists(model.objects.filter(process_id=OuterRef("pk")).living()))
    return list(rows.order_by("created_at").values_list("pk", flat=True))
