"""What a job class declares: `schedule = Daily("06:00")`, a cron expression, or a list of them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, TypedDict, Unpack

DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
EVEN = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30)  # minutes that divide an hour


class Options(TypedDict, total=False):
    """What every declaration may add to its times."""

    time_zone: str | None
    grace: timedelta | None
    overlap: bool
    arguments: Mapping[str, Any]
    name: str | None


@dataclass(frozen=True)
class Cron:
    """Five fields: minute, hour, day of the month, month, day of the week.

    It is not checked here, so that a bad one is reported by `manage.py check`.
    """

    expression: str
    time_zone: str | None = None  # an IANA name; None: settings.TIME_ZONE
    grace: timedelta | None = None  # how late a run may start; None: until the next, at most a day
    overlap: bool = False  # whether a run may start while the last one is still open
    arguments: Mapping[str, Any] = field(default_factory=dict)  # for the job's `for_schedule`
    name: str | None = None  # unique; None: the model's label


def Every(*, minutes: int, **options: Unpack[Options]) -> Cron:
    """Every 5 minutes, for example, from minute 0 of each hour on."""
    if minutes not in EVEN:
        even = ", ".join(str(number) for number in EVEN)
        raise ValueError(f"Every(minutes={minutes!r}): it must divide an hour: one of {even}.")
    return Cron("* * * * *" if minutes == 1 else f"*/{minutes} * * * *", **options)


def Hourly(*, minute: int = 0, **options: Unpack[Options]) -> Cron:
    """Once an hour, at this minute."""
    if minute not in range(60):
        raise ValueError(f"Hourly(minute={minute!r}): it must be 0 to 59.")
    return Cron(f"{minute} * * * *", **options)


def Daily(at: str, **options: Unpack[Options]) -> Cron:
    """Once a day, e.g. at "06:00"."""
    return Cron(f"{_clock('Daily', at)} * * *", **options)


def Weekly(day: str, at: str, **options: Unpack[Options]) -> Cron:
    """Once a week, e.g. on "monday" at "06:00"."""
    if str(day).lower() not in DAYS:
        raise ValueError(f"Weekly({day!r}): the day must be one of {', '.join(DAYS)}.")
    return Cron(f"{_clock('Weekly', at)} * * {DAYS.index(day.lower())}", **options)


def Monthly(day: int | Literal["last"], at: str, **options: Unpack[Options]) -> Cron:
    """Once a month, on a day that every month has, or on the "last"."""
    if day != "last" and day not in range(1, 29):
        raise ValueError(f"Monthly({day!r}): the day must be 1 to 28, or 'last'.")
    return Cron(f"{_clock('Monthly', at)} {'L' if day == 'last' else day} * *", **options)


def _clock(helper: str, at: str) -> str:
    """The first two fields of an expression, of a time like "06:00"."""
    found = CLOCK.fullmatch(str(at))
    if not found:
        raise ValueError(f"{helper}(…, {at!r}): write the time as hours and minutes, e.g. '06:00'.")
    return f"{int(found[2])} {int(found[1])}"
