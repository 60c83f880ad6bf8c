"""How `manage.py jobs` reads the moments that people type."""

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from jobs.console.cli_groups import misused
from jobs.db import clock
from jobs.queue.rescheduling import LATEST


def moment(at: str | None, in_minutes: float | None) -> datetime | None:
    """The moment of --at or --in-minutes; None if neither is given. A past one means now."""
    if at is not None and in_minutes is not None:
        raise misused("Give --at or --in-minutes, not both.")
    found = _read(at) if at is not None else _later(in_minutes)
    if found and found > clock.now() + LATEST:
        raise misused(f"{found:%Y-%m-%d %H:%M %Z}: at most {LATEST.days} days from now.")
    return found


def _read(at: str) -> datetime:
    """Without a time zone it is in the site's."""
    try:
        found = parse_datetime(at)
    except ValueError:
        found = None
    if found is None:
        raise misused(f"--at {at}: a moment like 2030-12-31T18:00 or 2030-12-31T18:00+09:00.")
    return found if timezone.is_aware(found) else timezone.make_aware(found)


def _later(minutes: float | None) -> datetime | None:
    if minutes is None:
        return None
    most = LATEST // timedelta(minutes=1)
    if not 0 <= minutes <= most:  # not a number is refused too
        raise misused(f"--in-minutes {minutes:g}: from 0 to {most}.")
    return clock.now() + timedelta(minutes=minutes)
