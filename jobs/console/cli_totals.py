"""What `manage.py jobs totals` answers: sums that no retention makes smaller."""

from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Sum
from django.db.models.functions import Coalesce, TruncDate

from jobs.console import shown
from jobs.console.cli_groups import Printed, misused
from jobs.db import clock
from jobs.models import Call, CallTotal, State
from jobs.models.provider import SMALLEST
from jobs.paid import money
from jobs.queue import totals

LONGEST = 36_500  # days


def answer(*, days: int | None, **_: Any) -> Printed:
    """How many claims ended how, and what was spent; of the last days, or since the beginning."""
    if days is not None and not 0 < days <= LONGEST:
        raise misused(f"--days {days}: from 1 to {LONGEST}.")
    since = None if days is None else clock.now().date() - timedelta(days=days - 1)
    ended, calls = attempts(since), spending(since)
    lines = [*map(_of_attempts, ended), *map(_of_calls, calls)]
    return Printed({"since": since, "attempts": ended, "calls": calls}, lines)


def attempts(since: date | None) -> list[dict[str, Any]]:
    only = {} if since is None else {"day__gte": since}
    return [
        {
            "kind": kind,
            "outcome": outcome,
            "number": found.number,
            "seconds": found.milliseconds // 1000,
        }
        for (kind, outcome), found in totals.sums(**only).items()
    ]


def spending(since: date | None) -> list[dict[str, Any]]:
    """The calls in the database, and the sums of those that have left it for files."""
    day = Coalesce("booked_on", TruncDate("started_at"))
    live = Call.objects.annotate(day=day).exclude(state=State.WAITING)
    gone = CallTotal.objects.all()
    if since is not None:
        live, gone = live.filter(day__gte=since), gone.filter(day__gte=since)
    numbers: dict[str, int] = defaultdict(int)
    costs: dict[str, Decimal] = defaultdict(Decimal)
    by_provider = [
        live.order_by().values_list("provider").annotate(Count("pk"), Sum("cost")),
        gone.order_by().values_list("provider").annotate(Sum("number"), Sum("cost")),
    ]
    # One statement: a call that leaves between two would be missing or counted twice.
    for provider, number, cost in by_provider[0].union(by_provider[1], all=True):
        numbers[provider] += number
        costs[provider] += cost
    return [
        {"provider": name, "calls": numbers[name], "cost": costs[name].quantize(SMALLEST)}
        for name in sorted(numbers)
    ]


def _of_attempts(each: dict[str, Any]) -> str:
    time = shown.short(timedelta(seconds=each["seconds"]))
    return f"{each['kind']}  {each['outcome']} {each['number']}, {time} in all"


def _of_calls(each: dict[str, Any]) -> str:
    return f"{each['provider']}  calls {each['calls']}, {money.shown(each['cost'])}"
