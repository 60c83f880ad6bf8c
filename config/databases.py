"""Which database is used, and how."""

import sys
from pathlib import Path
from typing import Any

from config import database_url
from config.embedded import server

# A host that vanished without a word: by default, the kernel waits for it for minutes or hours.
HOST_LOST = {
    "connect_timeout": 3,  # seconds, for each host that the URL names
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,  # milliseconds
}


def choose(url: str, folder: Path) -> dict[str, Any]:
    """The database of this URL, or else one in this folder."""
    if url:
        return database_url.read(url)
    if server.binaries():
        return server.database(folder / ".postgres")
    print("PostgreSQL is not installed: using the SQLite file db.sqlite3.", file=sys.stderr)
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": str(folder / "db.sqlite3")}


def tune(database: dict[str, Any]) -> dict[str, Any]:
    if database["ENGINE"].endswith("sqlite3"):
        options = {
            # A transaction that begins with a read can't wait for the write lock later.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            # WAL: readers and the writer don't block each other. FULL: with NORMAL, a power cut
            # loses the last commits, and jobs with them.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL",
        }
        return {**database, "OPTIONS": {**options, **database.get("OPTIONS", {})}}
    # Server-side cursors outlive their transaction, which a transaction pooler can't keep.
    pooled = {"DISABLE_SERVER_SIDE_CURSORS": True}
    database = {**database, "OPTIONS": {**HOST_LOST, **database.get("OPTIONS", {})}}
    return {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True, **pooled, **database}
