"""Whose fault an error of the database is: one list, used wherever an error is judged."""

from django.db import Error, InterfaceError, OperationalError, connection
from psycopg.pq import TransactionStatus

# Others were in the way: deadlock, serialization failure, lock timeout.
CONFLICTS = {"40P01", "40001", "55P03"}
# The server can't work now: a lost connection (08), out of disk, memory or connections (53),
# shutting down (57P), a failing disk (58), read-only after a demotion (25006).
SERVER_CLASSES = ("08", "53", "57P", "58")
READ_ONLY = "25006"
# The same on SQLite, which has only words for it.
SQLITE_CONFLICTS = ("database is locked", "database table is locked")
SQLITE_SERVER = (
    "disk i/o error",
    "database or disk is full",
    "attempt to write a readonly database",
    "unable to open database file",
)
IDLE_IN_TRANSACTION = "25P03"


def is_conflict(error: BaseException) -> bool:
    """Whether others were in the way: locks that were not let go, a deadlock."""
    if not isinstance(error, Error):
        return False
    return _state(error) in CONFLICTS or _says(error, SQLITE_CONFLICTS)


def is_servers(error: BaseException) -> bool:
    """Whether the server could not do its work, wherever the error was raised."""
    if not isinstance(error, Error):
        return False
    state = _state(error)
    if state is not None:
        return state == READ_ONLY or state.startswith(SERVER_CLASSES)
    # psycopg names no state when the connection itself is gone.
    is_gone = isinstance(error, OperationalError | InterfaceError)
    return _says(error, SQLITE_SERVER) or (is_gone and connection.vendor == "postgresql")


def is_passing(error: BaseException) -> bool:
    """Whether the same write may well succeed later, because no job is to blame for the error."""
    if not isinstance(error, Error) or _state(error) == IDLE_IN_TRANSACTION:
        return False  # whatever kept that transaction waiting will do so again
    return is_conflict(error) or is_servers(error) or is_lost()


def is_lost() -> bool:
    """Whether this thread's connection is broken, or was not to be had."""
    return connection.connection is None or getattr(connection.connection, "closed", False)


def is_spoiled() -> bool:
    """Whether an error within the open transaction was caught, so that it can't commit."""
    if connection.needs_rollback:
        return True
    info = getattr(connection.connection, "info", None)  # PostgreSQL's
    return info is not None and info.transaction_status == TransactionStatus.INERROR


def _state(error: BaseException) -> str | None:
    return getattr(error.__cause__, "sqlstate", None)


def _says(error: BaseException, texts: tuple[str, ...]) -> bool:
    said = str(error).lower()  # the database's own words: they can be read
    return connection.vendor == "sqlite" and any(text in said for text in texts)
