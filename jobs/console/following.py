"""What follows processes, as far as the code knows its kind and its row still exists."""

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from jobs.models import Job, Process, job_models


def follows(process: Process) -> str:
    """The kind of job that follows; empty if none does."""
    kept = process.follow if isinstance(process.follow, dict) else {}
    name = str(kept.get("model", ""))
    known = _kinds_by_name()
    return str(known[name]._meta.verbose_name) if name in known else name


def followers(rows: Iterable[Process]) -> dict[UUID, Job]:
    """What followed each of these processes, as far as it still exists: a query per kind of job."""
    sought: dict[str, dict[str, UUID]] = defaultdict(dict)
    for process in rows:
        if process.followed_at and isinstance(process.follow, dict):
            name, id = str(process.follow.get("model")), str(process.follow.get("pk"))
            sought[name][id] = process.pk
    known = _kinds_by_name()
    return {
        ids[str(job.pk)]: job
        for name, ids in sought.items()
        if name in known
        for job in known[name].objects.filter(pk__in=list(ids))
    }


def _kinds_by_name() -> dict[str, type[Job]]:
    return {model._meta.label_lower: model for model in job_models()}
