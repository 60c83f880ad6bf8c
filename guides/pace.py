"""How fast pictures are made now: by the last ones, the workers, and the provider's limits."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from math import inf
from typing import Any

from django.db.models import Q
from django.db.models.functions import Now

from guides.models import SpotImageJob
from jobs.models import Attempt, Outcome, Provider, Worker, job_models

RECENT = 200  # attempts read, of all kinds
FEWEST = 3  # pictures that a pace needs
FRESH = timedelta(days=1)


@dataclass(frozen=True)
class Pace:
    """What decides when the next pictures begin. Times are seconds from now."""

    seconds: float  # for one picture
    held: float  # for which a picture takes a slot, the time of failed attempts included
    free_at: list[float]  # when each slot is free
    opens: float = 0.0  # when the provider's pause ends
    affordable: float = inf  # pictures that the rest of today's budget covers
    burst: int = 1
    interval: float = 0.0  # between tokens
    debt: float = 0.0  # until all tokens are back

    def starts(self, count: int) -> list[float]:
        """When each of the next pictures begins: it needs a free slot and a token (GCRA)."""
        slots = [max(moment, self.opens) for moment in self.free_at]
        heapq.heapify(slots)
        full_at, found = self.debt, []
        for _ in range(count):
            start = max(slots[0], full_at - (self.burst - 1) * self.interval)
            full_at = max(full_at, start) + self.interval
            heapq.heapreplace(slots, start + self.held)
            found.append(start)
        return found

    def left(self, elapsed: timedelta) -> float | None:
        """Seconds left for a picture in progress; None when it takes unusually long."""
        left = self.seconds - elapsed.total_seconds()
        return None if left < -self.seconds else max(left, self.seconds / 4)


def find_pace(provider: Provider | None, waiting: int = 0) -> Pace | None:
    """The pace for this many waiting pictures.

    None when too few pictures were made lately, or no worker makes any.
    """
    made = last_made()
    crew = find_crew()
    if sum(each.is_success for each in made) < FEWEST or not crew:
        return None
    ours = find_running(crew)
    slots = sum(crew.values()) - count_others(crew)
    if provider and provider.most_running:
        slots = min(slots, provider.most_running)
    if slots < 1:
        return None
    seconds, held = measure(made, ours, company=min(slots, waiting + len(ours)))
    busy = sorted(max(seconds - elapsed.total_seconds(), seconds / 4) for elapsed in ours)
    busy = busy[max(0, len(busy) - slots) :]  # above the limit, an end frees no slot
    free_at = [0.0] * (slots - len(busy)) + busy
    return Pace(seconds, held, free_at, **limits_of(provider))


def limits_of(provider: Provider | None) -> dict[str, Any]:
    if provider is None:
        return {}
    pause = provider.paused_until - provider.now if provider.paused_until else timedelta(0)
    return {
        "opens": max(0.0, pause.total_seconds()),
        "affordable": provider.affordable,
        "burst": provider.burst,
        "interval": provider.interval.total_seconds(),
        "debt": provider.debt.total_seconds(),
    }


# Workers


def find_crew() -> dict[str, int]:
    """The slots of workers that take jobs; two missed beats, of four to a lease, count as gone."""
    return {
        worker.name: worker.slots
        for worker in Worker.objects.working().with_now()
        if worker.lease_expires_at - worker.now > worker.now - worker.last_beat_at
    }


def find_running(crew: Iterable[str]) -> list[timedelta]:
    """How long each picture has been in progress at these workers."""
    running = SpotImageJob.objects.processing().filter(locked_by__in=list(crew))
    times = running.annotate(now=Now()).values_list("locked_at", "now")
    return [now - since for since, now in times if since]


def count_others(crew: Iterable[str]) -> int:
    """How many slots of these workers hold jobs of other kinds."""
    held = [
        model.objects.processing().filter(locked_by__in=list(crew)).values("id")
        for model in job_models()
        if model is not SpotImageJob
    ]
    return held[0].union(*held[1:], all=True).count() if held else 0


# The last pictures


@dataclass
class Made:
    """An attempt at a picture, and how many others ran beside it, on average."""

    started_at: datetime
    ended_at: datetime
    is_success: bool
    company: float = 1.0

    @property
    def seconds(self) -> float:
        return max((self.ended_at - self.started_at).total_seconds(), 0.1)


def measure(made: list[Made], running: list[timedelta], company: int) -> tuple[float, float]:
    """Seconds for a picture, and for its slot, when this many are made at once.

    Many at once may take longer each: so only the pictures count that had about as much company,
    and of those the newest. Pictures in progress that take longer than these count as well: a
    busy machine is noticed before its pictures are done.
    """
    note_company(made)
    good = [each for each in made if each.is_success]
    alike = sorted(good, key=lambda each: round(abs(each.company - company)))
    took = [each.seconds for each in alike[: max(FEWEST, len(good) // 3)]]
    usual = sum(took) / len(took)
    took += [s + usual / 4 for each in running if (s := each.total_seconds()) > usual]
    seconds = sum(took) / len(took)
    waste = sum(each.seconds for each in made) / sum(each.seconds for each in good)
    return seconds, seconds * waste


def last_made() -> list[Made]:
    # The newest rows by their key: a history of millions costs no more than a short one.
    recent = Attempt.objects.order_by("-pk").annotate(is_fresh=Q(ended_at__gt=Now() - FRESH))
    columns = ("kind", "is_fresh", "started_at", "ended_at", "outcome", "steps")
    rows = recent.values_list(*columns)[:RECENT]
    return [
        Made(started_at, ended_at, outcome == Outcome.SUCCEEDED)
        for kind, is_fresh, started_at, ended_at, outcome, steps in rows
        if kind == SpotImageJob._meta.label and is_fresh and not was_short(outcome, steps)
    ]


def was_short(outcome: str, steps: dict[str, int] | None) -> bool:
    """Whether no provider was asked for a picture: it was put into a batch, or came out of one."""
    is_over = outcome in (Outcome.SUCCEEDED, Outcome.SNOOZED)
    return is_over and "prompt" in (steps or {}) and "generate" not in (steps or {})


def note_company(made: list[Made]) -> None:
    """Add up, moment by moment, how many ran at once."""
    steps = sorted(
        [(each.started_at, 1) for each in made] + [(each.ended_at, -1) for each in made],
        key=lambda step: step[0],
    )
    area, running = 0.0, 0
    upto = {steps[0][0]: 0.0}
    for (moment, change), (following, _) in pairwise(steps):
        running += change
        area += running * (following - moment).total_seconds()
        upto[following] = area
    for each in made:
        each.company = (upto[each.ended_at] - upto[each.started_at]) / each.seconds
