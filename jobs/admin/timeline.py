"""The attempts of a job as a timeline, each with its steps as a bar."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.formats import number_format
from django.utils.translation import gettext_lazy as _

from jobs.models import Attempt, Job, Outcome

MOST = 50
TOTAL = {"total": _("total")}
COLOURS = {
    Outcome.SUCCEEDED.value: "success",
    Outcome.FAILED.value: "danger",
    Outcome.TIMED_OUT.value: "danger",
    Outcome.LOST.value: "danger",
    Outcome.UNAVAILABLE.value: "warning",
}


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


def attempts(job: Job) -> list[Shown]:
    """The job's attempts, newest first."""
    rows = Attempt.objects.filter(job_id=job.pk).order_by("-epoch")[:MOST]
    return [
        Shown(
            attempt,
            str(Outcome(attempt.outcome).label),
            COLOURS.get(attempt.outcome, ""),
            seconds(attempt.started_at, attempt.ended_at),
            bar(attempt, type(job)),
        )
        for attempt in rows
    ]


def bar(attempt: Attempt, model: type[Job]) -> list[Step]:
    """Each step's share of the whole attempt; the rest is time between steps."""
    whole = max(1, round((attempt.ended_at - attempt.started_at).total_seconds() * 1000))
    steps = attempt.steps if isinstance(attempt.steps, dict) else {}
    taken = {str(name): int(ms) for name, ms in steps.items() if isinstance(ms, int | float)}
    whole = max(whole, sum(taken.values()))
    return [
        Step(label(name, model), taken[name], round(100 * taken[name] / whole), number % 5)
        for number, name in enumerate(in_order(taken, model))
    ]


def in_order(steps: Iterable[str], model: type[Job]) -> list[str]:
    """As the model names them: the database doesn't keep the order of JSON keys."""
    known = [*TOTAL, *model.steps]
    return sorted(steps, key=lambda step: (known.index(step) if step in known else 99, step))


def label(step: str, model: type[Job]) -> str:
    return str({**TOTAL, **model.steps}.get(step, step))


def short(time: timedelta) -> str:
    """A rounded duration in one unit."""
    seconds = max(0, int(time.total_seconds()))
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"


def seconds(started_at: datetime | None, ended_at: datetime | None) -> str:
    """How long something took; empty if that is not known."""
    if started_at is None or ended_at is None:
        return ""
    return f"{number_format((ended_at - started_at).total_seconds(), 1)} s"
