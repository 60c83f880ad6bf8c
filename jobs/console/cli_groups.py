"""What `manage.py jobs processes` and `jobs batches` answer."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from jobs.console import batches, processes
from jobs.console.counting import MANY
from jobs.db import clock
from jobs.models import Process
from jobs.paid import money
from jobs.paid.batches.models import Batch


@dataclass
class Printed:
    data: Any
    lines: list[str] = field(default_factory=list)
    is_well: bool = True


def misused(text: str) -> CommandError:
    return CommandError(text, returncode=2)


def of_processes(*, id: str | None, limit: int, **_: Any) -> Printed:
    """The newest processes, or one in detail."""
    if id:
        [course] = processes.look([_find(Process, id, "process")])
        data = _process(course)
        lines = [f"{name}: {value}" for name, value in data.items() if value not in (None, "")]
        return Printed(data, lines)
    newest = Process.objects.order_by("-created_at")[: max(0, min(limit, MANY))]
    found = [_process(course) for course in processes.look(newest)]
    lines = [
        f"{each['id']}  {each['percent']:3} %  {each['ended_jobs']}/{each['total']}"
        f"  failed {each['failed']}  {each['time']}  {each['label']}"
        + (f"  ({each['waits_for']})" if each["waits_for"] else "")
        for each in found
    ]
    return Printed(found, lines)


def _process(course: processes.Course) -> dict[str, Any]:
    process = course.process
    return {
        "id": str(process.pk),
        "label": process.label,
        "state": "ended" if process.ended_at else "open",
        "total": process.total,
        "ended_jobs": process.ended,
        "percent": process.percent,
        "open": process.open,
        "succeeded": process.succeeded,
        "failed": process.failed,
        "canceled": process.canceled,
        "sealed": process.sealed,
        "waits_for": course.situation,
        "follows": course.follows,
        "followed_at": process.followed_at,
        "follow_error": process.follow_error,
        "created_at": process.created_at,
        "ended_at": process.ended_at,
        "time": course.time,
    }


def of_batches(*, id: str | None, limit: int, **_: Any) -> Printed:
    """The newest batches, or one in detail."""
    now = clock.now()
    if id:
        [standing] = batches.look([_find(Batch, id, "batch")], now)
        data = {**_batch(standing), "means": standing.meaning, "calls": dict(standing.members)}
        lines = [f"{name}: {value}" for name, value in data.items() if value not in (None, "")]
        return Printed(data, lines)
    newest: Any = Batch.objects.order_by("-id")[: max(0, min(limit, MANY))]
    found = [_batch(standing) for standing in batches.look(newest, now)]
    lines = [
        f"{each['id']}  {each['stage']:10}  {each['percent']:3} % of {each['total']}"
        f"  failed {each['failed']}  {each['time']}  {each['provider']}  {each['remote_id']}"
        for each in found
    ]
    return Printed(found, [line.rstrip() for line in lines])


def _batch(standing: batches.Standing) -> dict[str, Any]:
    batch = standing.batch
    return {
        "id": str(batch.pk),
        "provider": batch.provider,
        "stage": standing.stage.value,
        "state": batch.state,
        "remote_id": batch.remote_id,
        "token": batch.token,
        "total": standing.size,
        "done": batch.done,
        "failed": batch.failed,
        "percent": standing.percent,
        "booked": money.shown(batch.booked),
        "cost": None if standing.has_left else money.shown(standing.cost),  # it is archived
        "submitted_at": batch.submitted_at,
        "ended_at": batch.ended_at,
        "time": standing.time,
        "error": batch.last_error or "",
    }


def _find(model: Any, id: str, name: str) -> Any:
    try:
        row = model.objects.filter(pk=UUID(id)).first()
    except ValueError:
        raise misused(f"{id} is not the id of a {name}.") from None
    if row is None:
        raise CommandError(f"There is no {name} {id}.", returncode=1)
    return row
