"""What people are told about batches."""

import math
from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from jobs.models import Call, Job
from jobs.paid.batches.models import Batch

LATELY = 20  # batches that tell how long one usually takes
MOST = 0.9  # of them took no longer


def of_jobs(jobs: Collection[Job]) -> dict[UUID, Call]:
    """The calls of these jobs that wait for a batch or are in one."""
    calls = Call.objects.for_batch().filter(job_id__in=[job.id for job in jobs])
    return {call.job_id: call for call in calls}


def usual_seconds(provider: str) -> float | None:
    """Within how long most of the last batches of this provider were done; None: not known.

    Only those with results tell: one that was refused ended within seconds.
    """
    ended = Batch.objects.filter(provider=provider, submitted_at__isnull=False).exclude(file="")
    latest = ended.exclude(ended_at=None).order_by("-id")[:LATELY]
    times: list[tuple[datetime, datetime]] = list(latest.values_list("submitted_at", "ended_at"))
    if not times:
        return None
    seconds = sorted((end - start).total_seconds() for start, end in times)
    return seconds[math.ceil(MOST * len(seconds)) - 1]
