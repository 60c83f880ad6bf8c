"""How the console writes moments and durations: one way each, for pages and commands."""

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _

from jobs.models import Call
from jobs.models.call import OVERDUE

NOT_KNOWN = "–"


def moment(value: datetime | None) -> str:
    """Date and time with seconds: pages that renew themselves every 5 s need them."""
    return date_format(timezone.localtime(value), "Y-m-d H:i:s") if value else NOT_KNOWN


def number(value: int) -> str:
    return str(number_format(value, force_grouping=True))


def short(time: timedelta) -> str:
    """A rounded duration in one unit."""
    seconds = max(0, int(time.total_seconds()))
    if seconds < 120:
        return _("%s s") % seconds
    if seconds < 7200:
        return _("%s min") % (seconds // 60)
    return _("%s h") % (seconds // 3600) if seconds < 172_800 else _("%s d") % (seconds // 86_400)


def seconds(started_at: datetime | None, ended_at: datetime | None) -> str:
    """How long something took; empty if that is not known."""
    if started_at is None or ended_at is None:
        return ""
    return _("%s s") % number_format((ended_at - started_at).total_seconds(), 1)


def of_call(call: Call, now: datetime) -> str:
    """How long a call took.

    A call whose end was recorded after its deadline, by another worker perhaps, was answered or
    cut off before the deadline: so long at most.
    """
    if call.finished_at is None:
        is_open = now < call.deadline + OVERDUE
        return _("%s so far") % short(now - call.started_at) if is_open else NOT_KNOWN
    if call.finished_at <= call.deadline:
        return seconds(call.started_at, call.finished_at)
    return f"≤ {seconds(call.started_at, call.deadline)}"
