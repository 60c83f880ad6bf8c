"""Connections of this process, and short transactions."""

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import timedelta
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.utils import load_backend

POOL_SIZE = 3
CONNECT_SECONDS = 3  # for each host that DATABASE_URL names
RECONNECT_SECONDS = 1
IDLE = timedelta(seconds=4)
LIMITS = ("idle_in_transaction_session_timeout", "lock_timeout", "statement_timeout")
MILLISECOND = timedelta(milliseconds=1)
Execute = Callable[..., Any]  # as Django gives it to a wrapper of statements


class Patience(NamedTuple):
    """How long a transaction waits for a lock, and for any statement."""

    locks: timedelta = timedelta(seconds=5)
    statements: timedelta = timedelta(seconds=10)


USUAL = Patience()
BRIEF = Patience(locks=timedelta(milliseconds=50))  # one by one, where many may have to wait


@contextmanager
def short_transaction(patience: Patience | None = None) -> Iterator[None]:
    """A transaction that neither waits nor holds its locks for long, even if it is frozen.

    A frozen transaction hides its rows from every SKIP LOCKED claimer. The limits are set
    for the transaction only, which also works behind a transaction pooler.
    """
    is_outermost = not connection.in_atomic_block
    with transaction.atomic(), _limits(patience) if is_outermost else nullcontext():
        yield


def short_statement() -> AbstractContextManager[None]:
    """The same for one statement, which is a transaction by itself: one round trip in all."""
    # With this option values travel apart from the text, so the limits can't be in it.
    is_apart = connection.settings_dict["OPTIONS"].get("server_side_binding")
    return short_transaction() if is_apart else _limits()


def _limits(patience: Patience | None = None) -> AbstractContextManager[None]:
    if connection.vendor != "postgresql":
        return nullcontext()
    usual: Patience = getattr(connection, "patience", USUAL)
    return connection.execute_wrapper(_Limits(patience or usual))


def are_limited() -> bool:
    """Whether this thread's next statement brings limits of its own."""
    own: list[Any] = connection.execute_wrappers
    return any(isinstance(each, _Limits) and each.unsent for each in own)


class _Limits:
    """Sends the limits of a transaction along with its first statement: no round trip more."""

    def __init__(self, patience: Patience) -> None:
        limits = zip(LIMITS, (IDLE, *patience), strict=True)
        sets = [f"set_config('{name}', '{limit // MILLISECOND}', true)" for name, limit in limits]
        self.unsent: str | None = f"SELECT {', '.join(sets)}"

    def __call__(self, execute: Execute, sql: Any, params: Any, many: bool, context: Any) -> Any:
        if not self.unsent:
            return execute(sql, params, many, context)
        first, self.unsent = self.unsent, None
        if can_follow(sql, many, context):
            return send_after(first, execute, sql, params, many, context)
        database = context["connection"]
        with database.wrap_database_errors:
            database.connection.execute(first)
        return execute(sql, params, many, context)


def can_follow(sql: Any, many: bool, context: Any) -> bool:
    """Whether another statement can stand before this one in the same message."""
    cursor = context["cursor"].cursor
    # psycopg puts the values into the text, and the server keeps no cursor by a name.
    is_clients = hasattr(cursor, "mogrify") and not hasattr(cursor, "name")
    return is_clients and isinstance(sql, str) and not many


def send_after(
    first: str, execute: Execute, sql: str, params: Any, many: bool, context: Any
) -> Any:
    """Send both in one message, which costs no round trip more than one of them."""
    result = execute(f"{first}; {sql}", params, many, context)
    context["cursor"].cursor.nextset()  # from the answer to the first to that of the statement
    return result


@contextmanager
def short_reading(patience: Patience) -> Iterator[None]:
    """Queries that only read, with these limits.

    SQLite has no such limits, and a transaction of it would lock the whole file for writing.
    """
    with short_transaction(patience) if connection.vendor == "postgresql" else nullcontext():
        yield


@contextmanager
def with_patience(patience: Patience) -> Iterator[None]:
    """Set how long this thread's short transactions may wait."""
    own: Any = connections[DEFAULT_DB_ALIAS]
    before = getattr(own, "patience", USUAL)
    own.patience = patience
    try:
        yield
    finally:
        own.patience = before


@contextmanager
def in_order_of_index(*, when: bool) -> Iterator[None]:
    """Have PostgreSQL read rows from an index in their order, instead of fetching many and sorting.

    Where it expects one row, it sees no difference. Only inside a transaction.
    """
    if not when or connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('enable_sort', 'off', true)")
        yield
        cursor.execute("SELECT set_config('enable_sort', 'on', true)")


def own_connection() -> None:
    """Give this thread a connection of its own, beside the pool that `perform` shares.

    Claiming, settling and beating must never wait for a connection.
    """
    settings = dict(connections.settings[DEFAULT_DB_ALIAS])
    settings["OPTIONS"] = {k: v for k, v in settings["OPTIONS"].items() if k != "pool"}
    # Kept for ever and not checked before use: the callers handle a fault when it happens.
    settings |= {"CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": False}
    if connection.vendor == "postgresql":
        settings["OPTIONS"].setdefault("connect_timeout", CONNECT_SECONDS)
    backend = load_backend(settings["ENGINE"])
    connections[DEFAULT_DB_ALIAS] = backend.DatabaseWrapper(settings, DEFAULT_DB_ALIAS)


def share_pool() -> None:
    """Make all threads without their own connection share a small pool."""
    settings = connections.settings[DEFAULT_DB_ALIAS]
    if connection.vendor == "postgresql":
        settings["OPTIONS"].setdefault("connect_timeout", CONNECT_SECONDS)
        settings["OPTIONS"]["pool"] = POOL
        settings |= {"CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": True}
        # It logs every try to connect. The worker itself says once that the database is away.
        logging.getLogger("psycopg.pool").setLevel(logging.ERROR)


def keep_connecting(pool: Any) -> None:
    """Let a pool that gave up try again at once, as long as a thread waits for a connection.

    By itself it would double its pauses, and sleep on when the database is back.
    """
    if pool.get_stats().get("requests_waiting"):
        with suppress(Exception):  # PoolTimeout; SQLite needs no psycopg, so no import of it
            pool.putconn(pool.getconn(timeout=RECONNECT_SECONDS / 100))


POOL = {
    "min_size": 0,
    "max_size": POOL_SIZE,
    "max_idle": 60,
    "reconnect_timeout": RECONNECT_SECONDS,
    "reconnect_failed": keep_connecting,
}


def elsewhere(statement: str) -> None:
    """Execute a statement in another session than this thread's; in a worker, one of the pool."""
    other = connections.create_connection(DEFAULT_DB_ALIAS)
    try:
        with other.cursor() as cursor:
            cursor.execute(statement)
    finally:
        other.close()


def give_back() -> None:
    """Return this thread's connection to the pool, unless a transaction needs it."""
    own = connections[DEFAULT_DB_ALIAS]
    if own.connection is not None and not own.in_atomic_block:
        own.close()
