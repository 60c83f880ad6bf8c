"""The database's clock, by which all times are reckoned, and waits that make sense."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

YEAR = 365 * 24 * 60 * 60.0

# As Django's Now(): the statement's time, as exactly as rows have it.
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
    """A time as a plain query tells it: SQLite says it as text, of UTC."""
    moment: datetime = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment if timezone.is_aware(moment) else moment.replace(tzinfo=UTC)


def bounded(seconds: object, shortest: float = 0.0) -> timedelta:
    """Make a sensible wait of any nonsense: at most a year; what is no number is the shortest."""
    try:
        number = float(seconds)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    except OverflowError:  # an integer that no float can hold
        number = math.inf if seconds > 0 else -math.inf  # type: ignore[operator]
    if math.isnan(number):
        number = shortest
    return timedelta(seconds=min(max(number, shortest), YEAR))
