"""What caused a database error: one list, used wherever the code must decide that."""

from django.db import Error, InterfaceError, OperationalError, connection

# Another transaction was in the way: deadlock, serialization failure, lock timeout.
CONFLICTS = {"40P01", "40001", "55P03"}
# The server can't work now: a lost connection (08), out of disk, memory or connections (53),
# shutting down (57P), a failing disk (58), read-only after a demotion (25006).
SERVER_CLASSES = ("08", "53", "57P", "58")
READ_ONLY = "25006"
# The same on SQLite, which has only texts, no codes.
SQLITE_CONFLICTS = ("database is locked", "database table is locked")
SQLITE_SERVER = (
    "disk i/o error",
    "database or disk is full",
    "attempt to write a readonly database",
    "unable to open database file",
)
IDLE_IN_TRANSACTION = "25P03"
CANCELED = "57014"  # by statement_timeout, or by a person


def is_conflict(error: BaseException) -> bool:
    """Whether another transaction was in the way: a lock that it kept, or a deadlock."""
    if not isinstance(error, Error):
        return False
    return _state(error) in CONFLICTS or _says(error, SQLITE_CONFLICTS)


def is_in_the_way(error: BaseException) -> bool:
    """Whether a statement of our own was kept waiting: by a lock, or for too long."""
    return is_conflict(error) or (isinstance(error, Error) and _state(error) == CANCELED)


def is_servers(error: BaseException) -> bool:
    """Whether the database server itself failed."""
    if not isinstance(error, Error):
        return False
    state = _state(error)
    if state is not None:
        return state == READ_ONLY or state.startswith(SERVER_CLASSES)
    # psycopg names no state when the connection itself is gone.
    is_gone = isinstance(error, OperationalError | InterfaceError)
    return _says(error, SQLITE_SERVER) or (is_gone and connection.vendor == "postgresql")


def is_read_only(error: BaseException) -> bool:
    """Whether the server refuses to write: it has become a standby."""
    return isinstance(error, Error) and _state(error) == READ_ONLY


def is_passing(error: BaseException) -> bool:
    """Whether the same write may succeed later, because no job caused the error."""
    if not isinstance(error, Error) or _state(error) == IDLE_IN_TRANSACTION:
        return False  # the code that left the transaction idle will do so again
    return is_conflict(error) or is_servers(error) or is_lost()


def is_lost() -> bool:
    """Whether this thread's connection is broken or could not be opened."""
    return connection.connection is None or getattr(connection.connection, "closed", False)


def is_spoiled() -> bool:
    """Whether the open transaction can't commit, because an error inside it was caught."""
    if connection.needs_rollback:
        return True
    info = getattr(connection.connection, "info", None)  # PostgreSQL's
    # By its name: a project on SQLite may not have psycopg.
    return info is not None and info.transaction_status.name == "INERROR"


def _state(error: BaseException) -> str | None:
    return getattr(error.__cause__, "sqlstate", None)


def _says(error: BaseException, texts: tuple[str, ...]) -> bool:
    said = str(error).lower()  # SQLite's own text, so str() can't raise
    return connection.vendor == "sqlite" and any(text in said for text in texts)
