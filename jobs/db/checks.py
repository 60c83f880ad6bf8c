"""Checks that the database is set up so that several workers can write to it."""

from typing import Any

from django.core.checks import CheckMessage, Warning, register
from django.db import connection

HINT = """Add to the settings:
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL",
    }"""


@register
def check_sqlite(**_: Any) -> list[CheckMessage]:
    """A transaction of SQLite that begins with a read can't wait for the write lock later."""
    mode = connection.settings_dict["OPTIONS"].get("transaction_mode") or "DEFERRED"
    if connection.vendor != "sqlite" or mode.upper() == "IMMEDIATE":
        return []
    text = 'Workers will meet "database is locked": SQLite\'s transactions are not IMMEDIATE.'
    return [Warning(text, hint=HINT, id="jobs.W001")]
