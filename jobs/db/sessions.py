"""How the queue uses the database: connections, short transactions, passing faults."""

import logging
import math
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import (
    DEFAULT_DB_ALIAS,
    Error,
    InterfaceError,
    OperationalError,
    connection,
    connections,
    transaction,
)
from django.db.models.expressions import DatabaseDefault
from django.db.models.sql import InsertQuery
from django.db.utils import load_backend
from psycopg.pq import TransactionStatus

log = logging.getLogger(__name__)

POOL_SIZE = 3
IDLE = timedelta(seconds=4)
PATIENCE = timedelta(seconds=5)

# Deadlock, serialization failure, lock timeout: nobody's fault.
PASSING = {"40P01", "40001", "55P03"}
IDLE_IN_TRANSACTION = "25P03"


@contextmanager
def short_transaction(patience: timedelta | None = None) -> Iterator[None]:
    """A transaction that neither waits nor holds its locks for long, even if it is frozen.

    A frozen transaction hides its rows from every SKIP LOCKED claimer. The limits are set
    for the transaction only, which also works behind a transaction pooler.
    """
    patience = patience or PATIENCE
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if outermost and connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT set_config('idle_in_transaction_session_timeout', %s, true),"
                    " set_config('lock_timeout', %s, true),"
                    " set_config('statement_timeout', %s, true)",
                    [milliseconds(IDLE), milliseconds(patience), milliseconds(2 * patience)],
                )
        yield


def milliseconds(time: timedelta) -> str:
    return f"{time // timedelta(milliseconds=1)}ms"


def insert_missing(rows: list[Any]) -> list[UUID]:
    """Insert rows of one model, skipping those that exist; returns the ids of the new ones.

    One statement for any number, but for SQLite's limit on parameters.
    """
    if not rows:
        return []
    model = type(rows[0])
    fields = [
        field
        for field in model._meta.concrete_fields
        if not all(_is_default(getattr(row, field.attname), field) for row in rows)
    ]
    size = connection.ops.bulk_batch_size(fields, rows) or len(rows)
    batches = [rows[start : start + size] for start in range(0, len(rows), size)]
    with nullcontext() if len(batches) == 1 else transaction.atomic(savepoint=False):
        return [id for batch in batches for id in _insert(model, fields, batch)]


def _is_default(value: object, field: Any) -> bool:
    """Whether the database would fill in this value by itself, so that it need not be sent."""
    if field.has_db_default():
        return isinstance(value, DatabaseDefault) or value == field.default == field.db_default
    return field.generated or (field.null and value is None and not field.has_default())


def _insert(model: type[Any], fields: list[Any], rows: list[Any]) -> list[UUID]:
    # bulk_create() can't tell which rows are new, and on SQLite it would skip any row that
    # breaks any constraint. So: the statement it would make, with another ending.
    query = InsertQuery(model)
    query.insert_values(fields, rows)
    compiler = query.get_compiler(connection=connection)
    compiler.returning_fields = [model._meta.pk]
    [(statement, parameters)] = compiler.as_sql()
    insert, returning = statement.rsplit(" RETURNING ", 1)
    with connection.cursor() as cursor:
        cursor.execute(f"{insert} ON CONFLICT DO NOTHING RETURNING {returning}", parameters)
        return [model._meta.pk.to_python(id) for (id,) in cursor.fetchall()]


def own_connection() -> None:
    """Give this thread a connection of its own, beside the pool that `perform` shares.

    Claiming, settling and beating must never wait for a connection.
    """
    settings = dict(connections.settings[DEFAULT_DB_ALIAS])
    settings["OPTIONS"] = {k: v for k, v in settings["OPTIONS"].items() if k != "pool"}
    # Kept for ever and never tried before use: a fault is answered when it happens.
    settings |= {"CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": False}
    if connection.vendor == "postgresql":
        settings["OPTIONS"].setdefault("connect_timeout", PATIENCE.seconds)
    backend = load_backend(settings["ENGINE"])
    connections[DEFAULT_DB_ALIAS] = backend.DatabaseWrapper(settings, DEFAULT_DB_ALIAS)


def share_pool() -> None:
    """Let all threads without a connection of their own share a few."""
    settings = connections.settings[DEFAULT_DB_ALIAS]
    if connection.vendor == "postgresql":
        settings["OPTIONS"]["pool"] = {"min_size": 0, "max_size": POOL_SIZE, "max_idle": 60}
        settings |= {"CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": True}


def give_back() -> None:
    """Return this thread's connection to the pool, unless a transaction needs it."""
    own = connections[DEFAULT_DB_ALIAS]
    if own.connection is not None and not own.in_atomic_block:
        own.close()


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


class Outage:
    """Says once that the database can't be used, and once that it can again."""

    def __init__(self) -> None:
        self.since: float | None = None
        self.over_at = -math.inf
        self.faults = 0

    def note(self, error: Exception) -> float:
        """Another fault; returns the moment (monotonic) to try again."""
        now = time.monotonic()
        if self.since is None:
            self.since = now
        self.faults += 1
        if self.faults == 2:  # one may be a connection that had grown old
            log.warning("The database can't be used: %s. Trying again until it can.", error)
        # The first time at once; then after a growing, jittered while.
        wait = 0.0 if self.faults == 1 else min(5.0, 0.05 * 2.0**self.faults)
        return now + wait * random.uniform(0.5, 1)

    def over(self) -> None:
        if self.since is not None and self.faults > 1:
            log.warning("The database is back after %.0f s.", time.monotonic() - self.since)
        if self.since is not None:
            self.over_at = time.monotonic()
        self.since, self.faults = None, 0
