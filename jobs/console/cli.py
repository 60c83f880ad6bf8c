"""The answers of `manage.py jobs`, as lines for people and as data for scripts."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.management.base import CommandError
from django.db.models import QuerySet

from jobs.console import (
    actions,
    audit,
    cli_groups,
    cli_pauses,
    cli_probe,
    cli_schedules,
    cli_times,
    cli_totals,
    counting,
    job_waits,
    lineage,
    needs,
    rescheduling,
    retention,
    story,
)
from jobs.console.cli_groups import Answer, misused
from jobs.console.counting import MANY, Number
from jobs.console.rescheduling import Wish
from jobs.db import database
from jobs.models import Job, Status, in_trace, job_models
from jobs.paid import money, waiting
from jobs.queue.rescheduling import LARGEST, SMALLEST

# Show


def status(*, probe: bool, **_: Any) -> Answer:
    """How many jobs are in which state, and what needs a person; not well if anything does."""
    if probe:
        return cli_probe.answer()
    situation = needs.Situation.look()
    found = needs.needs(situation)
    counts = {
        model._meta.label: {status.value: int(number) for status, number in numbers.items()}
        for model, numbers in situation.statuses.items()
    }
    lines = [
        f"{model._meta.label}: "
        + ", ".join(f"{number} {status.value}" for status, number in numbers.items())
        for model, numbers in situation.statuses.items()
    ]
    paused = {
        model._meta.label: waiting.paused(pause)
        for model in situation.pauses
        if (pause := situation.pause_of(model))
    }
    lines += [f"{kind}: {job_waits.full_text(wait)}" for kind, wait in paused.items()]
    alive, late = situation.fleet.alive, situation.fleet.late
    missed = f", {late} of them missed two beats" if late else ""
    lines.append(f"workers alive: {alive}{missed}")
    lines += [visits.text(situation.now) for visits in situation.visits]
    lines += [f"! {need.text}" for need in found]
    if name := database.name():
        lines.insert(0, f"database: {name}")
    hints = [hint.text for hint in needs.hints(situation)]
    lines += [f"hint: {text}" for text in hints]
    data = {
        "database": name,
        "needs": [{"kind": need.kind, "text": need.text} for need in found],
        "hints": hints,
        "jobs": counts,  # counted up to 10,001
        "workers": int(alive),
        "workers_late": int(late),
        "last_runs": {visits.way: visits.last_at for visits in situation.visits},
        "paused": {
            kind: {"until": wait.until, "reason": wait.note} for kind, wait in paused.items()
        },
        "oldest_due": {model._meta.label: when for model, when in situation.oldest.items()},
    }
    return Answer(data, lines, is_well=not found)


def listing(*, limit: int, **selection: Any) -> Answer:
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
    return Answer(rows, lines)


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


def show(*, id: str, **_: Any) -> Answer:
    """One job, its history and what it waits for."""
    job = _find(id)
    data = {**_short(job), **story.facts(job)}
    return Answer(data, list(story.lines(data)))


# Act


def requeue(*, first: bool, **options: Any) -> Answer:
    return _act(actions.ACTIONS["requeue_first" if first else "requeue"], **options)


def cancel(**options: Any) -> Answer:
    return _act(actions.ACTIONS["cancel"], **options)


def reschedule(
    *, at: str | None, in_minutes: float | None, priority: int | None, **options: Any
) -> Answer:
    run_after = cli_times.moment(at, in_minutes)
    if run_after is None and priority is None:
        raise misused("Give --at, --in-minutes or --priority.")
    if priority is not None and not SMALLEST <= priority <= LARGEST:
        raise misused(f"--priority {priority}: it must be from {SMALLEST} to {LARGEST}.")
    return _act(rescheduling.action(Wish(run_after, priority)), **options)


def _act(
    action: actions.Action, *, by: object, dry_run: bool, ids: list[str], **selection: Any
) -> Answer:
    """Act on all selected jobs, without a time limit; not well if a named job was left alone."""
    wanted = {_uuid(id) for id in ids}
    changed = 0
    foreseen = left = Number(0)
    cost = Decimal(0)
    is_priced, tokens_cost = True, False
    budgets: dict[str, Decimal] = {}  # what is left today, per provider
    refusals: list[str] = []
    for jobs in _selected(ids=ids, **selection):
        preview = actions.preview(action, jobs)
        foreseen += preview.changed
        left += sum(int(number) for _, number in preview.left_alone)
        cost += preview.cost or 0
        if preview.refused and any(preview.numbers[status] for status in action.origins):
            refusals.append(str(preview.refused))
        if preview.changed and preview.provider and not preview.is_free:
            is_priced &= preview.has_price
            tokens_cost |= preview.tokens_cost
            if preview.left_today is not None:
                budgets[preview.provider] = preview.left_today
        if dry_run:
            continue
        done = _carry_out_all(action, jobs, by)
        changed += done
        if done > 1:
            audit.note_many(by, jobs.model, done, action.logged)
    if dry_run:
        changed = foreseen
    # The cost is unknown for more than 10,000 jobs, or if the provider has no price.
    known_cost = f"{cost:.2f}" if is_priced and foreseen.is_exact else None
    data = {
        "action": action.name,
        "changed": _counted(changed),
        "left_alone": _counted(left),
        "dry_run": dry_run,
        "exact": foreseen.is_exact and left.is_exact,
        "cost_about": known_cost,
        "plus_tokens": tokens_cost,
        "currency": settings.CURRENCY,
        "left_today": {name: f"{left:.2f}" for name, left in budgets.items()},
    }
    verb = "would change" if dry_run else "changed"
    price = "cost not known" if known_cost is None else f"cost about {money.shown(cost)}"
    price += " plus tokens" if tokens_cost else ""
    price += "".join(f", {name} has {money.shown(n)} left today" for name, n in budgets.items())
    lines = [f"{action.name}: {verb} {changed}, left alone {left}, {price}", *refusals]
    return Answer(data, lines, is_well=not ids or changed == len(wanted))


def _counted(number: int) -> int:
    """Cap an estimated number at 10,000; the number of changed jobs is always exact."""
    return min(number, counting.MANY) if isinstance(number, Number) else number


def _carry_out_all(action: actions.Action, jobs: QuerySet[Any], by: object) -> int:
    result = actions.carry_out(action, jobs, by)
    changed = result.changed
    while result.last:
        result = actions.carry_out(action, jobs, by, result.last)
        changed += result.changed
    return changed


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


ANSWERS: dict[str, Callable[..., Answer]] = {
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
