"""What the race does with the tables of a queue."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg.sql import SQL, Identifier

from bench.contestant import Contestant


def set_aside(queue: Contestant, enqueue: str, count: int) -> None:
    """Enqueue jobs and keep them aside, for drains that all start from the same rows."""
    empty(queue)
    queue.ask(enqueue, count)
    with queue.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS aside")
        connection.execute(SQL("CREATE TABLE aside AS TABLE {}").format(jobs(queue)))
    empty(queue)


def bring_back(connection: Any, queue: Contestant) -> int:
    """Insert the jobs that were set aside; returns how many."""
    names = connection.execute(
        "SELECT attname FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''",
        [queue.facts["TABLES"][0]],
    )
    columns = SQL(", ").join(Identifier(name) for (name,) in names)
    insert = SQL("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM aside")
    sent = connection.execute(insert.format(jobs(queue), columns, columns)).rowcount
    # No queue's plan may depend on whether autovacuum has run yet.
    connection.execute(SQL("ANALYZE {}").format(jobs(queue)))
    return int(sent)


def empty(queue: Contestant) -> None:
    with queue.connect() as connection:
        tables = SQL(", ").join(map(named, queue.facts["TABLES"]))
        connection.execute(SQL("TRUNCATE {}").format(tables))


def done(connection: Any, queue: Contestant, sent: int = 0) -> int:
    """How many jobs are done. Some queues delete them: those that were sent and are gone."""
    if queue.facts["DONE_JOBS"]:
        return count(connection, queue.facts["DONE_JOBS"])
    return sent - count(connection, queue.facts["OPEN_JOBS"]) if sent else 0


def jobs(queue: Contestant) -> Identifier:
    return named(queue.facts["TABLES"][0])


def named(table: str) -> Identifier:
    return Identifier(*table.split("."))


def transactions(queue: Contestant) -> int:
    """Count the database's transactions. Exact only while no session is connected to it."""
    with queue.connect("postgres") as connection:
        total = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = %s"
        return int(scalar(connection, total, [queue.database]))


@contextmanager
def autovacuum_off(queue: Contestant) -> Iterator[None]:
    """Turn autovacuum off: its transactions would count as the queue's."""
    with queue.connect("postgres") as connection:
        connection.execute("ALTER SYSTEM SET autovacuum = off")
        connection.execute("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            connection.execute("ALTER SYSTEM RESET autovacuum")
            connection.execute("SELECT pg_reload_conf()")


def count(connection: Any, jobs: str) -> int:
    return int(scalar(connection, SQL("SELECT count(*) FROM ({}) AS jobs").format(SQL(jobs))))


def scalar(connection: Any, query: Any, parameters: Any = None) -> Any:
    return connection.execute(query, parameters).fetchone()[0]
