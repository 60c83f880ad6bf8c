"""Where the metrics come from. Each part reads a bounded number of rows and may fail alone."""

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import partial

from django.db.models import Min

from jobs.console import counting, figures
from jobs.db import clock
from jobs.metrics import families
from jobs.metrics.families import Sample
from jobs.models import Job, Outcome, Provider, Schedule, Status, job_models, used_providers
from jobs.models.status import OPEN
from jobs.paid.batches.models import Batch
from jobs.queue import totals
from jobs.schedules import declaring, times, validity

NOTHING = totals.Sums(0, 0)


def parts() -> dict[str, Callable[[], Iterable[Sample]]]:
    """What can be read by itself, by name. Every kind of job is a part: its table may be locked."""
    return {
        "workers": workers,
        "providers": providers,
        "calls": calls,
        "schedules": schedules,
        "batches": batches,
        "pauses": pauses,
        "attempts": attempts,
        **{model._meta.label: partial(jobs, model) for model in job_models()},
    }


def jobs(model: type[Job]) -> Iterator[Sample]:
    kind = (model._meta.label,)
    questions = {status.value: model.objects.filter(status=status) for status in Status}
    numbers = counting.counts({**questions, "expired": model.objects.expired()})
    for status in Status.values:
        yield Sample(families.JOBS, (*kind, status), (numbers[status],))
    yield Sample(families.EXPIRED_LEASES, kind, (numbers["expired"],))
    since = figures.oldest_due(model)
    waited = clock.now() - since if since else timedelta(0)
    yield Sample(families.OLDEST_WAITING, kind, (_seconds(waited),))


def pauses() -> Iterator[Sample]:
    found, now = figures.pauses(), clock.now()
    for model in job_models():
        is_paused = model in found and found[model].lasts(now)
        yield Sample(families.KIND_PAUSED, (model._meta.label,), (is_paused,))


def attempts() -> Iterator[Sample]:
    """Zeros too: a counter that begins with its first event hides that event from `increase`."""
    sums = totals.sums()
    for model in job_models():
        for outcome in Outcome.values:
            number, milliseconds = sums.get((model._meta.label, outcome), NOTHING)
            labels = (model._meta.label, outcome)
            yield Sample(families.ATTEMPTS, labels, (number,))
            yield Sample(families.ATTEMPT_SECONDS, labels, (number, milliseconds / 1000))


def workers() -> Iterator[Sample]:
    fleet = figures.fleet()
    yield Sample(families.WORKERS, (), (fleet.alive,))
    yield Sample(families.WORKERS_WORKING, (), (fleet.working,))
    yield Sample(families.WORKERS_LATE, (), (fleet.late,))


def providers() -> Iterator[Sample]:
    """Those that a kind of job uses now: rows of others may be named by anybody."""
    for row in Provider.objects.with_now().filter(name__in=used_providers()):
        name = (row.name,)
        yield Sample(families.PROVIDER_PAUSED, name, (row.is_paused,))
        yield Sample(families.PROVIDER_SPENT, name, (float(row.spent_today),))
        if row.daily_budget is not None:
            yield Sample(families.PROVIDER_BUDGET, name, (float(row.daily_budget),))
        if row.requests_per_minute is not None:
            yield Sample(families.PROVIDER_TOKENS, name, (max(0.0, row.tokens()),))


def calls() -> Iterator[Sample]:
    yield Sample(families.CALLS_UNKNOWN, (), (figures.unknown_calls(),))


def schedules() -> Iterator[Sample]:
    declared = {each.name for each in declaring.declarations()}
    now = clock.now()
    for row in Schedule.objects.active().filter(name__in=declared):
        is_broken = bool(validity.fault_of(row))
        yield Sample(families.SCHEDULE_BROKEN, (row.name,), (is_broken,))
        if not is_broken:  # of a broken one nobody knows when it should have run
            due = times.next_after(row.cron, row.time_zone, row.last_scheduled_for)
            lag = now - due if due else timedelta(0)
            yield Sample(families.SCHEDULE_LAG, (row.name,), (_seconds(lag),))


def batches() -> Iterator[Sample]:
    # By the index of states: most batches have ended.
    out = Batch.objects.filter(status__in=OPEN, submitted_at__isnull=False, ended_at=None)
    since = dict(out.order_by().values_list("provider").annotate(Min("submitted_at")))
    now = clock.now()
    for name in sorted(used_providers()):
        age = now - since[name] if name in since else timedelta(0)
        yield Sample(families.BATCH_AGE, (name,), (_seconds(age),))


def _seconds(time: timedelta) -> float:
    """Never negative: clocks are corrected."""
    return max(0.0, time.total_seconds())
