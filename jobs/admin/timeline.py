"""A job's page: how it runs now, its last error, and its attempts with their steps as bars."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from jobs.console import causes, sentences, shown
from jobs.models import Attempt, Call, Job, Outcome, State, Status

MOST = 50
SHADES = 8  # colours of steps; each step beyond them is grey
TOTAL = {"total": _("total")}
PLAIN = "plain"
COLOURS = {
    Outcome.SUCCEEDED.value: "success",
    Outcome.FAILED.value: "danger",
    Outcome.TIMED_OUT.value: "danger",
    Outcome.LOST.value: "danger",
    Outcome.UNAVAILABLE.value: "warning",
    # Everyday ends, no faults. Unfold translates only the labels that have a colour.
    Outcome.RELEASED.value: PLAIN,
    Outcome.SNOOZED.value: PLAIN,
    Outcome.CANCELED.value: PLAIN,
}
RAISED = (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.UNAVAILABLE)
CALLING = "generate"  # the step of `calls.buy` that waits for the provider


# How it runs now


@dataclass(frozen=True)
class Running:
    """The claim that holds the job; the history tells of it only when it has ended."""

    since: str
    worker: str
    time: str
    step: str
    is_lost: bool  # its lease is over: its worker has vanished


def running(job: Job, calls: Sequence[Call], now: datetime) -> Running | None:
    if job.locked_at is None or job.lease_expires_at is None:
        return None
    return Running(
        shown.moment(job.locked_at),
        job.locked_by or "",
        shown.short(now - job.locked_at),
        current_step(job, calls, now),
        job.lease_expires_at < now,
    )


def current_step(job: Job, calls: Sequence[Call], now: datetime) -> str:
    """What its call implies or what the job has reported; empty if neither tells."""
    ours = [call for call in calls if call.epoch == job.epoch]
    if any(call.state == State.INTENT and call.deadline > now for call in ours):
        return label(CALLING, type(job))
    told = job.progress if isinstance(job.progress, dict) else {}
    if step := told.get("step"):
        return label(str(step), type(job))
    is_answered = any(call.state == State.STORED for call in ours)
    return gettext("works on the answer") if is_answered else ""


# Its last error


@dataclass(frozen=True)
class Trouble:
    """The last error: red only if the job has failed because of it."""

    title: str
    text: str
    colour: str


def trouble(job: Job, attempts: Sequence[Attempt]) -> Trouble | None:
    if not job.last_error:
        return None
    text = sentences.told(job.last_error)
    if job.status == Status.CANCELED:
        return Trouble("", text, PLAIN)
    cause = causes.words(job.error_kind, type(job))
    if job.status == Status.FAILED:
        return Trouble(cause, text, "danger")
    if causes.is_past(job, list(attempts)):
        title = gettext("Last error, before the requeue: %s") % cause
        return Trouble(title, text, PLAIN)
    return Trouble(gettext("Last error: %s") % cause, text, "warning")


# Its attempts


@dataclass(frozen=True)
class Step:
    name: str
    milliseconds: int
    percent: int
    shade: int


@dataclass(frozen=True)
class Shown:
    """One attempt, as the page draws it."""

    attempt: Attempt
    outcome: str
    colour: str
    seconds: str
    steps: list[Step]
    error: str
    has_traceback: bool


def newest(job: Job) -> list[Attempt]:
    return list(Attempt.objects.filter(job_id=job.pk).order_by("-epoch")[:MOST])


def attempts(job: Job, rows: Sequence[Attempt]) -> list[Shown]:
    """The job's attempts, newest first."""
    model = type(job)
    shades = shades_of({step for row in rows for step in _steps(row)}, model)
    return [
        Shown(
            row,
            str(Outcome(row.outcome).label),
            COLOURS[row.outcome],
            shown.seconds(row.started_at, row.ended_at),
            bar(row, model, shades),
            # The card above says already why a job was canceled.
            "" if is_told_above(job, row) else sentences.told(row.error or ""),
            bool(row.traceback) and row.outcome in RAISED,
        )
        for row in rows
    ]


def is_told_above(job: Job, attempt: Attempt) -> bool:
    return attempt.outcome == Outcome.CANCELED and attempt.error == job.last_error


def bar(attempt: Attempt, model: type[Job], shades: dict[str, int]) -> list[Step]:
    """Each step's share of the whole attempt; the rest is time between steps."""
    whole = max(1, round((attempt.ended_at - attempt.started_at).total_seconds() * 1000))
    taken = _steps(attempt)
    whole = max(whole, sum(taken.values()))
    return [
        Step(label(name, model), taken[name], round(100 * taken[name] / whole), shades[name])
        for name in in_order(taken, model)
    ]


def _steps(attempt: Attempt) -> dict[str, int]:
    steps: Any = attempt.steps if isinstance(attempt.steps, dict) else {}
    return {str(name): int(ms) for name, ms in steps.items() if isinstance(ms, int | float)}


def shades_of(steps: Iterable[str], model: type[Job]) -> dict[str, int]:
    """A colour for each step: the same in all attempts, and for named steps on all pages."""
    unnamed = in_order(set(steps) - set(model.steps), model)
    return {name: min(place, SHADES) for place, name in enumerate([*model.steps, *unnamed])}


def in_order(steps: Iterable[str], model: type[Job]) -> list[str]:
    """As the model names them: the database doesn't keep the order of JSON keys."""
    known = [*TOTAL, *model.steps]
    return sorted(steps, key=lambda step: (known.index(step) if step in known else 99, step))


def label(step: str, model: type[Job]) -> str:
    return str({**TOTAL, **model.steps}.get(step, step))
