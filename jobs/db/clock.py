"""The database's clock, which all times come from, and waits within sensible bounds."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

YEAR = 365 * 24 * 60 * 60.0

# Like Django's Now(): the statement's time, as precise as in the rows.
NOW = {
    "postgresql": "SELECT STATEMENT_TIMESTAMP()",
    "sqlite": "SELECT STRFTIME('%Y-%m-%d %H:%M:%f', 'NOW')",
}


def now() -> datetime:
    """The database's time, in the site's time zone."""
    with connection.cursor() as cursor:
        cursor.execute(NOW[connection.vendor])
        return timezone.localtime(aware(cursor.fetchone()[0]))


def aware(value: Any) -> datetime:
    """The aware form of a time from a raw query; SQLite returns it as text in UTC."""
    moment: datetime = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment if timezone.is_aware(moment) else moment.replace(tzinfo=UTC)


def bounded(seconds: object, shortest: float = 0.0) -> timedelta:
    """Turn any value into a sensible wait: at most a year; not a number gives the shortest."""
    try:
        number = float(seconds)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    except OverflowError:  # an integer that no float can hold
        number = math.inf if seconds > 0 else -math.inf  # type: ignore[operator]
    if math.isnan(number):
        number = shortest
    return timedelta(seconds=min(max(number, shortest), YEAR))
