"""A bare psycopg loop: batches and SKIP LOCKED, and nothing reliable about it.

The lower bound for Python: no lease, no retry, no history. A worker that dies loses its batch.
"""

import json

import psycopg

from bench.tasks import TASKS

TABLES = ["jobs"]
OPEN_JOBS = "SELECT 1 FROM jobs WHERE status <> 'done'"
DONE_JOBS = "SELECT 1 FROM jobs WHERE status = 'done'"
WAKE = "NOTIFY jobs"
SLOTS = False
BATCH = 500

CLAIM = """
    UPDATE jobs SET status = 'taken' WHERE id = ANY(ARRAY(
        SELECT id FROM jobs WHERE status = 'queued' ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
    )) RETURNING id, task, payload
"""

# PGHOST, PGUSER and PGDATABASE name the server, the user and the database.
connection = psycopg.connect(autocommit=True)


def setup() -> None:
    connection.execute("""
        CREATE TABLE jobs (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, task text NOT NULL,
            payload jsonb NOT NULL, status text NOT NULL DEFAULT 'queued')
    """)
    connection.execute("CREATE INDEX ON jobs (id) WHERE status = 'queued'")


def enqueue_one(task: str, sent_at: float) -> None:
    with connection.transaction():
        insert = "INSERT INTO jobs (task, payload) VALUES (%s, %s)"
        connection.execute(insert, [task, json.dumps(sent_at)])
        connection.execute(WAKE)


def enqueue_many(task: str, count: int) -> None:
    rows = connection.cursor().copy("COPY jobs (task, payload) FROM STDIN")
    with connection.transaction(), rows as copy:
        for _ in range(count):
            copy.write_row([task, "0.0"])


def work(slots: int) -> None:
    connection.execute("LISTEN jobs")
    while True:
        jobs = connection.execute(CLAIM, [BATCH]).fetchall()
        for _, task, sent_at in jobs:
            TASKS[task](sent_at)
        if jobs:
            done = "UPDATE jobs SET status = 'done' WHERE id = ANY(%s)"
            connection.execute(done, [[id for id, _, _ in jobs]])
        else:
            list(connection.notifies(timeout=1, stop_after=1))
