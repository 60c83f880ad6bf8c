"""How much PostgreSQL reads for a statement."""

from django.db import connection


def pages_read(act, table="noop_jobs"):
    """The pages that each statement about this table reads while `act` runs, by statement."""
    read = {}

    def watch(run, sql, parameters, *rest):
        if f'"{table}"' in sql:
            read[sql] = pages(sql, parameters)
        return run(sql, parameters, *rest)

    with connection.execute_wrapper(watch):
        act()
    return read


def pages(sql, parameters):
    """Perform a statement, count what it reads, and undo it; inside a transaction."""
    with connection.connection.cursor() as cursor:
        cursor.execute("SAVEPOINT plan")
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", parameters)
        [[plan]] = cursor.fetchone()
        cursor.execute("ROLLBACK TO SAVEPOINT plan")
    return plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]
