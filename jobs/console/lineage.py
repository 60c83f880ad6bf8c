"""Where a job came from, what it led to, and what else is of its trace.

Jobs of any kind, in a bounded number of queries.
"""

from collections.abc import Collection, Iterator
from typing import Any
from uuid import UUID

from django.db.models import Q

from jobs import models, tracing
from jobs.console import counting, shown
from jobs.models import Job, job_models

MOST = 20  # of the jobs that it led to
MOST_TRACED = 200  # of the jobs of a trace


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
    return _newest(Q(parent_id=job.pk), kinds, MOST + 1)


def _newest(wanted: Q, kinds: Collection[type[Job]], most: int) -> list[Job]:
    """One query for all kinds, and one for each kind that has such jobs."""
    there = counting.firsts(
        {model: model.objects.filter(wanted).values_list("status")[:1] for model in kinds}
    )
    found = [
        job
        for model, status in there.items()
        if status is not None
        for job in model.objects.filter(wanted).order_by("-id")[:most]
    ]
    return sorted(found, key=lambda job: job.pk.bytes, reverse=True)[:most]


# Traces


def trace_in(term: str) -> str:
    """The trace id that a person typed, alone or in a traceparent; empty if it is none."""
    term = term.strip().lower()
    return tracing.trace_of(term) or tracing.trace_of(f"00-{term}-{1:016x}-00")


def in_trace(trace_id: str, kinds: Collection[type[Job]]) -> list[Job]:
    """The newest jobs of these kinds in a trace, one more than MOST_TRACED if there are more."""
    return _newest(models.in_trace(trace_id), kinds, MOST_TRACED + 1)


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
        "trace_id": tracing.trace_id_of(job),
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
