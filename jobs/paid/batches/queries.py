"""What people are told about batches."""

from collections.abc import Collection
from datetime import datetime
from statistics import median
from uuid import UUID

from jobs.models import Call, Job
from jobs.paid.batches.models import Batch

LATELY = 20  # batches that tell how long one usually takes


def of_jobs(jobs: Collection[Job]) -> dict[UUID, Call]:
    """The calls of these jobs that wait for a batch or are in one."""
    calls = Call.objects.for_batch().filter(job_id__in=[job.id for job in jobs])
    return {call.job_id: call for call in calls}


def usual_seconds(provider: str) -> float | None:
    """How long the last batches of this provider took; None if there were none."""
    ended = Batch.objects.filter(provider=provider, submitted_at__isnull=False)
    latest = ended.exclude(ended_at=None).order_by("-id")[:LATELY]
    times: list[tuple[datetime, datetime]] = list(latest.values_list("submitted_at", "ended_at"))
    if not times:
        return None
    return median((end - start).total_seconds() for start, end in times)
