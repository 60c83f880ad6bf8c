"""The answers of `manage.py jobs`, as lines for people and as data for scripts."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError
from django.db.models import QuerySet

from jobs.console import (
    actions,
    cli_acting,
    cli_groups,
    cli_pauses,
    cli_probe,
    cli_schedules,
    cli_status,
    cli_times,
    cli_totals,
    job_waits,
    lineage,
    rescheduling,
    retention,
    story,
)
from jobs.console.cli_acting import Account
from jobs.console.cli_groups import Printed, misused
from jobs.console.counting import MANY
from jobs.console.rescheduling import Wish
from jobs.models import Job, Status, in_trace, job_models
from jobs.queue.rescheduling import LARGEST, SMALLEST

# Show


def status(*, probe: bool, **_: Any) -> Printed:
    return cli_probe.answer() if probe else cli_status.answer()


def listing(*, limit: int, **selection: Any) -> Printed:
    """The newest jobs of a selection."""
    found = [
        job
        for jobs in _selected(**selection)
        for job in jobs.order_by("-id")[: max(0, min(limit, MANY))]
    ]
    found.sort(key=lambda job: str(job.id), reverse=True)
    found = found[: max(0, limit)]
    in_batch = job_waits.in_batches(found)
    rows = [{**_short(job), "in_batch": in_batch.get(job.id)} for job in found]
    lines = [_line(row) for row in rows]
    return Printed(rows, lines)


def _line(row: dict[str, Any]) -> str:
    line = f"{row['id']}  {row['status']:10}  {row['error_kind'] or '':16}  {row['job']}"
    return f"{line}  ({row['in_batch']})" if row["in_batch"] else line


def _short(job: Job) -> dict[str, Any]:
    return {
        "id": str(job.id),
        "kind": job._meta.label,
        "job": str(job),
        "status": job.status,
        "attempts": job.attempts,
        "error_kind": job.error_kind,
    }


def show(*, id: str, **_: Any) -> Printed:
    """One job, its history and what it waits for."""
    job = _find(id)
    data = {**_short(job), **story.facts(job)}
    return Printed(data, list(story.lines(data)))


# Act


def requeue(*, first: bool, **options: Any) -> Printed:
    return _act(actions.ACTIONS["requeue_first" if first else "requeue"], **options)


def cancel(**options: Any) -> Printed:
    return _act(actions.ACTIONS["cancel"], **options)


def reschedule(
    *, at: str | None, in_minutes: float | None, priority: int | None, **options: Any
) -> Printed:
    run_after = cli_times.moment(at, in_minutes)
    if run_after is None and priority is None:
        raise misused("Give --at, --in-minutes or --priority.")
    if priority is not None and not SMALLEST <= priority <= LARGEST:
        raise misused(f"--priority {priority}: it must be from {SMALLEST} to {LARGEST}.")
    return _act(rescheduling.action(Wish(run_after, priority)), **options)


def _act(
    action: actions.Action, *, by: object, dry_run: bool, ids: list[str], **selection: Any
) -> Printed:
    """Act on all selected jobs; not well if a named job was left alone."""
    account = Account(action, dry_run)
    for jobs in _selected(ids=ids, **selection):
        account.foresee(actions.preview(action, jobs))
        if not dry_run:
            account.changed += cli_acting.carry_out(action, jobs, by)
    is_well = not ids or account.told == len({_uuid(id) for id in ids})
    return Printed(account.data(), account.lines(), is_well)


# Select


def _selected(
    *,
    ids: list[str] | None = None,
    kind: str | None = None,
    status: str | None = None,
    error_kind: str | None = None,
    trace: str | None = None,
    all: bool = True,
    **_: Any,
) -> list[QuerySet[Any]]:
    """The selected jobs of each kind. Without any selection it raises: that must not mean all."""
    if not (ids or kind or status or error_kind or all):
        raise misused("Name jobs by id, or choose them by --kind, --status, --error-kind or --all.")
    if status and status not in Status.values:
        raise misused(f"--status {status}: it must be one of {', '.join(Status.values)}.")
    chosen: list[QuerySet[Any]] = [model.objects.all() for model in _models(kind)]
    if ids:
        wanted = [_uuid(id) for id in ids]
        chosen = [jobs.filter(id__in=wanted) for jobs in chosen]
    if status:
        chosen = [jobs.filter(status=status) for jobs in chosen]
    if error_kind:
        chosen = [jobs.filter(status=Status.FAILED, error_kind=error_kind) for jobs in chosen]
    if trace is not None:
        wanted_trace = in_trace(_trace(trace))
        chosen = [jobs.filter(wanted_trace) for jobs in chosen]
    return chosen


def _models(kind: str | None) -> list[type[Job]]:
    known = {model._meta.label: model for model in job_models()}
    if kind and kind not in known:
        raise misused(f"--kind {kind}: it must be one of {', '.join(known)}.")
    return [known[kind]] if kind else list(known.values())


def _find(id: str) -> Job:
    for model in job_models():
        if job := model.objects.filter(id=_uuid(id)).first():
            return job
    raise CommandError(f"There is no job {id}.", returncode=1)


def _trace(text: str) -> str:
    if trace_id := lineage.trace_in(text):
        return trace_id
    raise misused(f"--trace {text}: it is not the id of a trace, which has 32 hexadecimal digits.")


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise misused(f"{text} is not the id of a job.") from None


ANSWERS: dict[str, Callable[..., Printed]] = {
    "status": status,
    "list": listing,
    "show": show,
    "requeue": requeue,
    "cancel": cancel,
    "reschedule": reschedule,
    "pause": cli_pauses.pause,
    "resume": cli_pauses.resume,
    "processes": cli_groups.of_processes,
    "batches": cli_groups.of_batches,
    "schedules": cli_schedules.of_schedules,
    "archive": retention.answer,
    "totals": cli_totals.answer,
}
