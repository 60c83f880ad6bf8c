"""The moments of a cron expression in its time zone. Pure arithmetic, without any clock.

All moments come and go in UTC: Python compares two times of one zone by their hands, so that
the hour that comes twice in autumn would be one hour.

On the nights of the clock change this follows cron: a fixed time that is left out comes when the
clock has jumped, one that comes twice counts once, and "every n minutes" goes on evenly.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from cronsim import CronSim, CronSimError
from django.utils.translation import gettext as _

from jobs.schedules import zones

MOST = 10_000  # moments that are counted; of more, only the latest matters
DAY = timedelta(days=1)
LONGEST = 200  # letters of an expression
SECOND = timedelta(seconds=1)
START = datetime(2000, 1, 1, tzinfo=UTC)
WRITTEN_OUT = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


@dataclass(frozen=True)
class Due:
    """What has come since the watermark."""

    tick: datetime  # the latest moment
    before: datetime | None  # the moment before it, if that has come since the watermark too
    missed: int  # how many moments came before the latest; at most MOST
    following: datetime | None  # the next one after it


def check(expression: str, time_zone: str) -> None:
    """Raise ValueError, with a text for people, if this is no schedule."""
    zones.load(time_zone)
    said = {"expression": expression[:LONGEST]}
    if plain := WRITTEN_OUT.get(expression.strip().lower()):
        text = _("“%(expression)s”: write the five fields instead, here “%(plain)s”.")
        raise ValueError(text % {**said, "plain": plain})
    if len(expression) > LONGEST:
        text = _("“%(expression)s…” is too long: at most %(most)s letters.")
        raise ValueError(text % {**said, "most": LONGEST})
    if len(fields := expression.split()) != 5:
        raise ValueError(_wrong_number(len(fields)) % said)
    try:
        found = next(CronSim(expression, START), None)
    except (CronSimError, ValueError, AssertionError) as error:
        if not _is_without_months(fields):
            text = _(
                "“%(expression)s” is not a cron expression (%(why)s). It has five fields: minute,"
                " hour, day of the month, month, day of the week; e.g. 0 6 * * 1."
            )
            raise ValueError(text % {**said, "why": error}) from None
        found = None
    if found is None:
        text = _("“%(expression)s” never comes: no month of it has such a day.")
        raise ValueError(text % said)


def _wrong_number(number: int) -> str:
    if number == 6:
        return _(
            "“%(expression)s” has six fields: seconds are not supported. Write five: minute, hour,"
            " day of the month, month, day of the week."
        )
    return _(
        "“%(expression)s” does not have five fields. Write minute, hour, day of the month, month,"
        " day of the week; e.g. 0 6 * * 1."
    )


def _is_without_months(fields: list[str]) -> bool:
    """Whether the months are what spoils an expression: it is good if any month will do."""
    minute, hour, day, month, weekday = fields
    try:
        CronSim(f"{minute} {hour} {day} * {weekday}", START)
        CronSim(f"{minute} {hour} * {month} {weekday}", START)
    except (CronSimError, ValueError, AssertionError):
        return False
    return True


def after(expression: str, time_zone: str, moment: datetime) -> Iterator[datetime]:
    """The moments after this one, in their order."""
    moment = moment.astimezone(UTC)
    # In the hour that comes twice, cronsim begins with the first of the two.
    ticks = CronSim(expression, moment.astimezone(zones.load(time_zone)))
    return (tick for each in ticks if (tick := each.astimezone(UTC)) > moment)


@lru_cache(maxsize=1000)
def next_after(expression: str, time_zone: str, moment: datetime) -> datetime | None:
    """The next moment; None if none comes in fifty years. Workers ask it every few seconds."""
    return next(after(expression, time_zone, moment), None)


def due(expression: str, time_zone: str, watermark: datetime, now: datetime) -> Due | None:
    """What has come after the watermark until now; None if nothing has."""
    tick = before = None
    for number, moment in enumerate(after(expression, time_zone, watermark)):
        if moment > now:
            return Due(tick, before, number - 1, moment) if tick else None
        if number == MOST:
            return _due_after_long(expression, time_zone, now)
        tick, before = moment, tick
    return Due(tick, before, number, None) if tick else None


def _due_after_long(expression: str, time_zone: str, now: datetime) -> Due:
    tick = latest(expression, time_zone, now)
    before = latest(expression, time_zone, tick - SECOND)
    return Due(tick, before, MOST, next_after(expression, time_zone, tick))


def latest(expression: str, time_zone: str, until: datetime) -> datetime:
    """The latest moment until this one, for an expression that has come before."""
    local = (until + SECOND).astimezone(zones.load(time_zone))
    tick = next(CronSim(expression, local, reverse=True)).astimezone(UTC)
    # In the hour that comes twice, cronsim may step back too far.
    for later in after(expression, time_zone, tick):
        if later > until:
            break
        tick = later
    return tick


def grace_for(due: Due, grace: timedelta | None) -> timedelta:
    """How late the run of this moment may start: by default until the next, at most a day."""
    if grace is not None:
        return grace
    return min(due.following - due.tick, DAY) if due.following else DAY
