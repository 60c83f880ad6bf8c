"""Which database is used, and how."""

import sys
from pathlib import Path
from typing import Any

from config import database_url
from config.database_names import Choice
from config.embedded import server

# A host that vanished without a word: by default, the kernel waits for it for minutes or hours.
HOST_LOST = {
    "connect_timeout": 3,  # seconds, for each host that the URL names
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,  # milliseconds
}


def choose(chosen: Choice, folder: Path) -> dict[str, Any]:
    """The database of its URL, or else one in this folder."""
    if chosen.url:
        return database_url.read(chosen.url, chosen.variable)
    own = home(folder, chosen.name)
    if server.binaries():
        return server.database(own / ".postgres")
    own.mkdir(parents=True, exist_ok=True)
    file = own / "db.sqlite3"
    told = f"PostgreSQL is not installed: using the SQLite file {file.relative_to(folder)}."
    print(told, file=sys.stderr)
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": str(file)}


def home(folder: Path, name: str) -> Path:
    """Where a checkout keeps what belongs to one database."""
    return folder / ".databases" / name if name else folder


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
