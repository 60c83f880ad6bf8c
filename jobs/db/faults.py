"""Whose fault an error of the database is."""

from django.db import Error, InterfaceError, OperationalError, connection
from psycopg.pq import TransactionStatus

# Deadlock, serialization failure, lock timeout: nobody's fault.
PASSING = {"40P01", "40001", "55P03"}
IDLE_IN_TRANSACTION = "25P03"


def is_lost() -> bool:
    """Whether this thread's connection is broken, or was not to be had."""
    return connection.connection is None or getattr(connection.connection, "closed", False)


def is_spoiled() -> bool:
    """Whether an error within the open transaction, caught by somebody, lets it never commit."""
    if connection.needs_rollback:
        return True
    info = getattr(connection.connection, "info", None)  # PostgreSQL's
    return info is not None and info.transaction_status == TransactionStatus.INERROR


def is_passing(error: BaseException) -> bool:
    """Whether the same write may well succeed the next time."""
    if not isinstance(error, Error):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    if state == IDLE_IN_TRANSACTION:
        return False  # somebody was too slow, and will be again
    return state in PASSING or "database is locked" in str(error) or is_lost()


def is_nobodys_fault(error: BaseException) -> bool:
    """Whether an error says that the server went away, or that others were in the way."""
    state = getattr(error.__cause__, "sqlstate", None)
    is_passing = state in PASSING or "database is locked" in str(error)
    return isinstance(error, Error) and (is_passing or was_lost(error))


def was_lost(error: BaseException) -> bool:
    """Whether an error says that the server went away, wherever it was raised."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return connection.vendor == "postgresql" and (state is None or state.startswith(("08", "57P")))
