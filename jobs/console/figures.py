"""The figures of the console. Each query reads a bounded number of rows, even of huge tables."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import fmean
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from jobs.console import counting
from jobs.console.counting import MANY, Number
from jobs.db import clock
from jobs.models import Attempt, Call, Job, Outcome, Pause, State, Status, Worker, job_models
from jobs.models.call import OVERDUE
from jobs.paid import money

SAMPLE = 5_000  # how many of the newest successes are timed
MOST_KINDS = 20
NONE = Number(0)
MOST_ROWS = 50  # of providers, of workers
FAULTS = (Outcome.FAILED, Outcome.TIMED_OUT)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
TOTAL = "total"
REST = object()  # all kinds of failures beyond MOST_KINDS

Model = type[Job]


# Counts and waiting times


def by_status() -> dict[Model, dict[Status, Number]]:
    """The number of jobs per model and state."""
    numbers = counting.counts(
        {
            (model, status): model.objects.filter(status=status)
            for model in job_models()
            for status in Status
        }
    )
    return {model: {status: numbers[model, status] for status in Status} for model in job_models()}


def oldest_due(model: Model) -> datetime | None:
    """The moment since which the longest-waiting job has been due."""
    queued = model.objects.filter(status=Status.QUEUED)
    # The claim's index is ordered by priority first: look at the first job of each priority.
    heads = counting.firsts(
        {
            priority: queued.filter(priority=priority, run_after__lte=Now())
            .order_by("run_after")
            .values_list("run_after")[:1]
            for priority in counting.distinct(queued, "priority", MOST_KINDS)
        }
    )
    return min((clock.aware(head) for head in heads.values() if head is not None), default=None)


def pauses() -> dict[Model, Pause]:
    """The pause of each kind of job that has ever been paused."""
    rows = {pause.kind: pause for pause in Pause.objects.all()}
    return {model: rows[kind] for model in job_models() if (kind := model._meta.label) in rows}


# Failures


@dataclass(frozen=True)
class Failures:
    """The failed jobs of one kind of error, and the newest error text."""

    kind: str | None
    number: Number
    example: str
    is_rest: bool = False  # all remaining kinds together


def failures(model: Model) -> list[Failures]:
    """Failures grouped by kind, the most frequent first, the rest last."""
    failed = model.objects.filter(status=Status.FAILED)
    kinds = error_kinds(model)
    alike: dict[Any, QuerySet[Any]] = {
        kind: failed.filter(error_kind=kind) for kind in [*kinds, None]
    }
    if len(kinds) == MOST_KINDS:
        alike[REST] = failed.filter(error_kind__gt=kinds[-1])
    numbers = counting.counts(alike)
    # Ordered like the index ..._failures, so that failures without a kind use it too.
    newest = {
        kind: rows.order_by("-error_kind", "-id").values_list("last_error")[:1]
        for kind, rows in alike.items()
    }
    examples = counting.firsts(newest)
    found = [
        Failures(
            None if kind is REST else kind,
            numbers[kind],
            examples[kind] or "",
            is_rest=kind is REST,
        )
        for kind in alike
        if numbers[kind]
    ]
    return sorted(found, key=lambda each: (each.is_rest, -each.number))


def error_kinds(model: Model) -> list[str]:
    failed = model.objects.filter(status=Status.FAILED)
    return counting.distinct(failed, "error_kind", MOST_KINDS)


# Recent attempts


@dataclass(frozen=True)
class Bucket:
    """The attempts that ended between two moments."""

    start: datetime
    succeeded: Number
    failed: Number

    @property
    def is_exact(self) -> bool:
        return self.succeeded.is_exact and self.failed.is_exact


@dataclass(frozen=True)
class Flow:
    """The attempts that ended in the last hour or day."""

    buckets: Sequence[Bucket]

    @property
    def succeeded(self) -> Number:
        return _sum(bucket.succeeded for bucket in self.buckets)

    @property
    def failed(self) -> Number:
        return _sum(bucket.failed for bucket in self.buckets)

    @property
    def failure_rate(self) -> float | None:
        """The share of attempts that failed; None if there are none or a count is not exact."""
        if not all(bucket.is_exact for bucket in self.buckets):
            return None
        ended = int(self.succeeded) + int(self.failed)
        return self.failed / ended if ended else None


def active_today(models: Iterable[Model], now: datetime) -> set[Model]:
    """Those of these kinds that had an attempt in the last day; their jobs may be gone since."""
    ended = Attempt.objects.filter(outcome__in=Outcome.values, ended_at__gte=now - DAY)
    newest = {
        model: ended.filter(kind=model._meta.label).order_by().values_list("pk")[:1]
        for model in models
    }
    return {model for model, found in counting.firsts(newest).items() if found}


def _sum(numbers: Iterable[Number]) -> Number:
    return Number(sum(map(int, numbers)))


def flows(model: Model, now: datetime) -> tuple[Flow, Flow]:
    """The last hour in steps of five minutes, the last day in steps of an hour."""
    hour = _edges(now, timedelta(minutes=5), HOUR)
    day = _edges(now, HOUR, DAY)
    periods = [*pairwise(hour), *pairwise(day)]
    ended = Attempt.objects.filter(kind=model._meta.label)
    succeeded, failed = Q(outcome=Outcome.SUCCEEDED), Q(outcome__in=FAULTS)
    numbers = counting.counts(
        {
            (start, end, outcome): ended.filter(outcome, ended_at__gte=start, ended_at__lt=end)
            for start, end in periods
            for outcome in (succeeded, failed)
        }
    )
    buckets = [
        Bucket(start, numbers[start, end, succeeded], numbers[start, end, failed])
        for start, end in periods
    ]
    split = len(hour) - 1
    return Flow(buckets[:split]), Flow(buckets[split:])


def _edges(now: datetime, step: timedelta, length: timedelta) -> list[datetime]:
    """Round times of day; the last one is in the future."""
    seconds = step.total_seconds()
    last = datetime.fromtimestamp(now.timestamp() // seconds * seconds + seconds, now.tzinfo)
    return [last - step * back for back in range(length // step, -1, -1)]


# Durations


@dataclass(frozen=True)
class Timing:
    """The milliseconds of one step, or of the whole attempt, over `number` attempts."""

    step: str
    number: int
    mean: float
    p95: float


@dataclass(frozen=True)
class Timings:
    """Timings of the last hour and day; `is_sample` if only the newest attempts were read."""

    hour: Sequence[Timing]
    day: Sequence[Timing]
    is_sample: bool


def timings(model: Model, now: datetime) -> Timings:
    """Milliseconds per step of successful attempts."""
    newest = Attempt.objects.filter(
        kind=model._meta.label, outcome=Outcome.SUCCEEDED, ended_at__gte=now - DAY
    ).order_by("-ended_at")
    rows = list(newest.values_list("started_at", "ended_at", "steps")[:SAMPLE])
    recent = [row for row in rows if row[1] >= now - HOUR]
    return Timings(_timings(recent), _timings(rows), is_sample=len(rows) == SAMPLE)


def _timings(rows: Sequence[tuple[datetime, datetime, Any]]) -> list[Timing]:
    taken: dict[str, list[float]] = {TOTAL: []}
    for started_at, ended_at, steps in rows:
        taken[TOTAL].append((ended_at - started_at).total_seconds() * 1000)
        for step, milliseconds in (steps or {}).items():
            taken.setdefault(step, []).append(milliseconds)
    return [
        Timing(step, len(values), fmean(values), p95(values))
        for step, values in taken.items()
        if values
    ]


def p95(values: Sequence[float]) -> float:
    """The smallest value that 95 % of the values don't exceed."""
    return sorted(values)[max(0, -(-len(values) * 95 // 100) - 1)]


# Workers and calls


def workers() -> Sequence[Worker]:
    """The workers with the latest beats, each with the database's time, newest worker last."""
    heard = (
        Worker.objects.filter(ended_at=None)
        .with_now()
        .order_by("-lease_expires_at", "name")[:MOST_ROWS]
    )
    return count_held(sorted(heard, key=lambda worker: (worker.started_at, worker.name)))


def count_held(workers: Sequence[Worker]) -> Sequence[Worker]:
    """Set how many jobs each of them holds now: its row tells the number of its last beat."""
    held: Counter[str | None] = Counter()
    for model in job_models():
        processing = model.objects.filter(status=Status.PROCESSING)
        held.update(processing.values_list("locked_by", flat=True)[:MANY])
    for worker in workers:
        worker.held = held[worker.name]
    return workers


@dataclass(frozen=True)
class Fleet:
    """How many workers are alive, still take jobs, and have missed two beats."""

    alive: Number
    working: Number
    late: Number = NONE


def fleet() -> Fleet:
    workers = Worker.objects.all()
    alive, working, late = workers.alive(), workers.working(), workers.late()
    return Fleet(**counting.counts({"alive": alive, "working": working, "late": late}))


def unknown_calls() -> Number:
    """Calls that may have been paid for and that no person has looked into yet."""
    paid = Call.objects.exclude(provider__in=money.free_providers())
    # Two queries, each with its own small index: an OR would read the whole history.
    overdue = paid.filter(state=State.INTENT, deadline__lt=Now() - OVERDUE)
    lost = paid.filter(state=State.UNKNOWN)
    numbers = counting.counts(
        {"lost": lost.filter(seen=False), "overdue": overdue.filter(seen=False)}
    )
    return numbers["lost"] + numbers["overdue"]
