"""What retention would let leave now, and what `manage.py jobs archive` answers."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q

from jobs import settings
from jobs.archive import ages as limits
from jobs.archive import answers, leaving, retention, sweeping
from jobs.archive.ages import Ages
from jobs.console import counting, shown
from jobs.console.cli_groups import Printed
from jobs.console.counting import Number
from jobs.models import ENDED, Attempt, Call, Event, Outcome, State, job_models, model_of

KEPT = "kept for ever"


def answer(*, dry_run: bool, **_: Any) -> Printed:
    """Do it now, in this process; with `dry_run` only show what would leave."""
    if dry_run:
        return _preview()
    done = retention.retain()
    return Printed(done, [retention.told(done)])


def _preview() -> Printed:
    ages = Ages.now()
    found = [entry for entry in _leaving(ages) if entry["rows"]]
    lines = [f"{name}: {text}" for name, text in kept_for().items()]
    lines += [_line(entry) for entry in found] or ["nothing is old enough"]
    for entry in found:
        entry["rows"] = int(entry["rows"])  # counted up to 10,001
    return Printed({"ages": kept_for(), "leaving": found}, lines)


def kept_for() -> dict[str, str]:
    """How long each thing is kept, in words."""
    days = {
        "attempts and calls of ended jobs": settings.LOG_RETENTION_DAYS_DB,
        "answers": settings.ANSWER_RETENTION_DAYS,
        "processed events": settings.EVENT_RETENTION_DAYS,
        "LLM requests nobody consumed": settings.LLM_RETENTION_DAYS,
        "silent workers": limits.WORKERS.days,
        "ended housekeeping jobs": limits.HOUSEKEEPING.days,
    }
    return {name: _days(number) for name, number in days.items()}


def _days(number: int) -> str:
    if not number:
        return KEPT
    return "1 day" if number == 1 else f"{number} days"


def _line(entry: dict[str, Any]) -> str:
    kind = f" of {entry['kind']}" if entry["kind"] else ""
    since = f", since {shown.moment(entry['since'])}" if entry["since"] else ""
    return f"leaves: {entry['rows']} {entry['what']}{kind}{since}"


def _leaving(ages: Ages) -> Iterator[dict[str, Any]]:
    for kind in leaving.kinds():
        if ages.history:
            old = Attempt.objects.filter(kind=kind, ended_at__lt=ages.history)
            rows = old.filter(_ended_or_gone(kind, ages.history))
            yield _entry("attempts", rows, "ended_at", kind)
    yield from _calls(ages)
    yield from _answers(ages)
    for name, rows in sweeping.sweeps(ages):
        yield _entry(name, rows, "processed_at" if rows.model is Event else None)


def _calls(ages: Ages) -> Iterator[dict[str, Any]]:
    """Calls of each kind that are old enough: their answers expire in the same run."""
    if ages.history is None:
        return
    old = Call.objects.filter(leaving.ENDED_CALL, started_at__lt=ages.history)
    for kind in _kinds():
        leaves = Q(answer_size=None) & _ended_or_gone(kind, ages.history)
        if ages.answered_calls is None:
            leaves &= ~Q(state=State.STORED)
        else:
            expires = _ended_or_gone(kind, ages.answered_calls)
            leaves |= Q(answer_size__isnull=False, started_at__lt=ages.answered_calls) & expires
        yield _entry("calls", old.filter(leaves, kind=kind), "started_at", kind)


def _answers(ages: Ages) -> Iterator[dict[str, Any]]:
    if ages.answers is None:
        return
    kept = Call.objects.filter(leaving.ENDED_CALL, answers.KNOWN, started_at__lt=ages.answers)
    for kind in _kinds():
        rows = kept.filter(_ended_or_gone(kind, ages.answers), kind=kind)
        yield _entry("answers", rows, "started_at", kind)
    yield _entry("batch_results", answers.old_results(ages.answers), None)


def _kinds() -> list[str]:
    return sorted(model._meta.label for model in job_models())


def _ended_or_gone(kind: str, before: datetime) -> Q:
    """Of rows about jobs of this kind: the job ended before this moment, or is deleted."""
    model = model_of(kind)
    if model is None:
        return Q()
    job = model.objects.filter(pk=OuterRef("job_id"))
    return Q(~Exists(job.exclude(status__in=ENDED, finished_at__lt=before)))


def _entry(what: str, rows: Any, moment: str | None, kind: str = "") -> dict[str, Any]:
    number: Number = counting.count(rows)
    since = _oldest(rows, moment) if moment and number else None
    return {"what": what, "kind": kind, "rows": number, "since": since}


# Columns before the moment in the index that finds the oldest row at once.
BEFORE = {"ended_at": ("outcome", Outcome.values), "started_at": ("state", State.values)}


def _oldest(rows: Any, moment: str) -> datetime | None:
    parts = [rows]
    if moment in BEFORE:
        column, values = BEFORE[moment]
        parts = [rows.filter(**{column: value}) for value in values]
    found = [part.order_by(moment).values_list(moment, flat=True).first() for part in parts]
    return min((each for each in found if each is not None), default=None)
