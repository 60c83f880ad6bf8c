"""What `manage.py jobs status` answers: how many jobs are in which state, what needs a person."""

from collections.abc import Iterator
from typing import Any

from jobs.console import job_waits, needs
from jobs.console.cli_groups import Printed
from jobs.console.needs import Need, Situation
from jobs.db import database
from jobs.models import Job
from jobs.paid import waiting
from jobs.paid.waiting import Wait


def answer() -> Printed:
    """The situation; not well if anything needs a person."""
    situation = Situation.look()
    found = needs.needs(situation)
    hints = [hint.text for hint in needs.hints(situation)]
    paused = {
        _kind(model): waiting.paused(pause)
        for model in situation.pauses
        if (pause := situation.pause_of(model))
    }
    lines = list(_lines(situation, paused))
    lines += [f"! {need.text}" for need in found]
    lines += [f"hint: {text}" for text in hints]
    return Printed(_data(situation, found, hints, paused), lines, is_well=not found)


def _lines(situation: Situation, paused: dict[str, Wait]) -> Iterator[str]:
    if name := database.name():
        yield f"database: {name}"
    for model, numbers in situation.statuses.items():
        counts = (f"{number} {status.value}" for status, number in numbers.items())
        yield f"{_kind(model)}: {', '.join(counts)}"
    for kind, wait in paused.items():
        yield f"{kind}: {job_waits.full_text(wait)}"
    late = situation.fleet.late
    missed = f", {late} of them missed two beats" if late else ""
    yield f"workers alive: {situation.fleet.alive}{missed}"
    for visits in situation.visits:
        yield visits.text(situation.now)


def _data(
    situation: Situation, found: list[Need], hints: list[str], paused: dict[str, Wait]
) -> dict[str, Any]:
    return {
        "database": database.name(),
        "needs": [{"kind": need.kind, "text": need.text} for need in found],
        "hints": hints,
        "jobs": {  # counted up to 10,001
            _kind(model): {status.value: int(number) for status, number in numbers.items()}
            for model, numbers in situation.statuses.items()
        },
        "workers": int(situation.fleet.alive),
        "workers_late": int(situation.fleet.late),
        "last_runs": {visits.way: visits.last_at for visits in situation.visits},
        "paused": {
            kind: {"until": wait.until, "reason": wait.note} for kind, wait in paused.items()
        },
        "oldest_due": {_kind(model): when for model, when in situation.oldest.items()},
    }


def _kind(model: type[Job]) -> str:
    return model._meta.label
