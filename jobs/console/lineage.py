"""Where a job came from, and what it led to: jobs of any kind, in a bounded number of queries."""

from collections.abc import Collection, Iterator
from typing import Any
from uuid import UUID

from jobs import tracing
from jobs.console import counting, shown
from jobs.models import Job, job_models

MOST = 20  # of the jobs that it led to


def parent(job: Job) -> Job | None:
    """The job that enqueued it; None if there was none, or if it is deleted."""
    return find(job.parent_id) if job.parent_id else None


def find(id: UUID) -> Job | None:
    """The job with this id, whichever kind it is: one query for all kinds, and one for it."""
    there = counting.firsts(
        {model: model.objects.filter(pk=id).values_list("status")[:1] for model in job_models()}
    )
    kinds = [model for model, status in there.items() if status is not None]
    return kinds[0].objects.filter(pk=id).first() if kinds else None


def children(job: Job, kinds: Collection[type[Job]]) -> list[Job]:
    """The newest jobs of these kinds that it enqueued, one more than MOST if there are more."""
    there = counting.firsts(
        {model: _enqueued_by(job, model).values_list("status")[:1] for model in kinds}
    )
    found = [
        child
        for model, status in there.items()
        if status is not None
        for child in _enqueued_by(job, model).order_by("-id")[: MOST + 1]
    ]
    return sorted(found, key=lambda child: child.pk.bytes, reverse=True)[: MOST + 1]


def _enqueued_by(job: Job, model: type[Job]) -> Any:
    return model.objects.filter(parent_id=job.pk)


def trace_id(job: Job) -> str:
    """By which its lines, and those of what it came from and led to, are found in the logs."""
    return tracing.trace_of(job.trace) or job.pk.hex


# For the command line


def facts(job: Job) -> dict[str, Any]:
    led_to = children(job, job_models())
    return {
        "came_from": _came_from(job),
        "led_to": [_short(child) for child in led_to[:MOST]],
        "led_to_more": len(led_to) > MOST,
        "schedule": job.schedule_name,
        "scheduled_for": job.scheduled_for,
        "unique_key": job.unique_key,
        "trace_id": trace_id(job),
    }


def _came_from(job: Job) -> dict[str, Any] | None:
    if job.parent_id is None:
        return None
    found = parent(job)
    return _short(found) if found else {"id": str(job.parent_id), "deleted": True}


def _short(job: Job) -> dict[str, Any]:
    facts = {"id": str(job.pk), "kind": job._meta.label, "job": str(job), "status": job.status}
    return {**facts, "deleted": False}


def lines(data: dict[str, Any]) -> Iterator[str]:
    if came_from := data["came_from"]:
        yield f"came from: {_line(came_from)}"
    for child in data["led_to"]:
        yield f"led to: {_line(child)}"
    if data["led_to_more"]:
        yield f"led to: more than these {MOST}"
    if data["schedule"]:
        moment = data["scheduled_for"]
        when = f"for {shown.moment(moment)}" if moment else "by hand"
        yield f"schedule: {data['schedule']} {when}"
    if data["unique_key"]:
        yield f"unique key: {data['unique_key']}"
    yield f"trace: {data['trace_id']}"


def _line(job: dict[str, Any]) -> str:
    if job["deleted"]:
        return f"{job['id']}, which is deleted"
    return f"{job['job']} ({job['kind']} {job['id']}): {job['status']}"
