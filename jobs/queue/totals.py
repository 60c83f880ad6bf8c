"""Counters that never fall: how many claims ended how, on which day, and how long they ran.

Each settlement inserts rows of its own, so that workers never wait for each other. The sum of the
rows is the counter. `compact` adds old rows together, and no reader sees a smaller sum meanwhile.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from datetime import date
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Count, F, Max, QuerySet, Sum
from django.db.models.functions import Now, TruncDate
from django.utils import timezone

from jobs.db import sessions
from jobs.db.durations import Milliseconds
from jobs.models import Attempt, Job, Total

PAGE = 5_000  # rows that are added together in one transaction


class Sums(NamedTuple):
    number: int
    milliseconds: int


def record(
    model: type[Job], ended: Mapping[str, Collection[UUID]], took: Mapping[UUID, int | None]
) -> None:
    """Count ended claims, by outcome, and the milliseconds they took."""
    day = today()
    Total.objects.bulk_create(
        Total(
            kind=model._meta.label,
            outcome=outcome,
            day=day,
            number=len(ids),
            milliseconds=sum(took[id] or 0 for id in ids),
        )
        for outcome, ids in ended.items()
        if ids
    )


def today() -> Any:
    """The day of the site's time zone, by the database's clock."""
    return _day(Now())


def _day(moment: Any) -> TruncDate:
    return TruncDate(moment, tzinfo=timezone.get_default_timezone())


def of_attempts() -> QuerySet[Any, Any]:
    """The same counts of attempts that are new, for a statement that has just inserted them."""
    milliseconds = Milliseconds(F("ended_at") - F("started_at"))
    rows = Attempt.objects.values_list("kind", "outcome", _day("ended_at"))
    return rows.annotate(ended=Count("*"), took=Sum(milliseconds))


def sums(*by: str, **only: Any) -> dict[tuple[Any, ...], Sums]:
    """The counters per kind and outcome, or `by` other columns (kind, outcome, day).

    One statement, so that it sees either the rows before a compaction or those after it.
    """
    columns = by or ("kind", "outcome")
    rows = Total.objects.filter(**only).values_list(*columns).order_by(*columns)
    return {
        tuple(key): Sums(number, milliseconds)
        for *key, number, milliseconds in rows.annotate(Sum("number"), Sum("milliseconds"))
    }


def compact(go_on: Callable[[], bool] = lambda: True) -> int:
    """Add rows of the same kind, outcome and day together; returns how many rows that saved.

    `go_on` is asked before every page; what is left when it says no, the next run does.
    """
    last = Total.objects.aggregate(last=Max("pk"))["last"] or 0
    saved = after = 0
    while after < last and go_on():
        fewer, after = _compact_page(after, last)
        saved += fewer
    return saved


def _compact_page(after: int, last: int) -> tuple[int, int]:
    with sessions.short_transaction():
        rows = Total.objects.filter(pk__gt=after, pk__lte=last).order_by("pk")
        page = list(rows.select_for_update(skip_locked=True)[:PAGE])
        alike: dict[tuple[str, str, date], list[Total]] = defaultdict(list)
        for row in page:
            alike[row.kind, row.outcome, row.day].append(row)
        several = {key: group for key, group in alike.items() if len(group) > 1}
        replaced = [row.pk for group in several.values() for row in group]
        Total.objects.filter(pk__in=replaced).delete()
        Total.objects.bulk_create(_added(key, group) for key, group in several.items())
    return len(replaced) - len(several), page[-1].pk if len(page) == PAGE else last


def _added(key: tuple[str, str, date], rows: list[Total]) -> Total:
    kind, outcome, day = key
    number = sum(row.number for row in rows)
    milliseconds = sum(row.milliseconds for row in rows)
    return Total(kind=kind, outcome=outcome, day=day, number=number, milliseconds=milliseconds)
