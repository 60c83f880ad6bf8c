"""Questions about batches."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Q

from jobs.models import Call, Job, State


def of_jobs(jobs: Iterable[Job]) -> dict[UUID, Call]:
    """The calls of these jobs that wait for a batch or are in one."""
    in_batch = Q(state=State.WAITING) | Q(state=State.INTENT, batch_id__isnull=False)
    ids = [job.pk for job in jobs]
    calls: Any = Call.objects.filter(in_batch, job_id__in=ids) if ids else []
    return {call.job_id: call for call in calls}


def usual_seconds(provider: str) -> float | None:
    return 3 * 3600.0
