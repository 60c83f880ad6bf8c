"""Tabie's own queue, with fencing, history and everything else on."""

import os
from functools import cache

import django
from django.core.management import call_command
from django.db import connection
from django.db.models.functions import Now

os.environ["DJANGO_SETTINGS_MODULE"] = "bench.settings"
django.setup()

from bench.models import BenchJob  # noqa: E402
from jobs import models, queue  # noqa: E402
from jobs.worker import survey as question  # noqa: E402

TABLES = ["bench_jobs", "job_attempts", "job_workers"]
# An index serves each half, even among a million other jobs.
OPEN_JOBS = """
    SELECT 1 FROM bench_jobs WHERE status = 'processing' UNION ALL
    SELECT 1 FROM bench_jobs WHERE status = 'queued' AND priority = 0 AND run_after <= now()
"""
DONE_JOBS = "SELECT 1 FROM bench_jobs WHERE status = 'succeeded'"
WAKE = "NOTIFY jobs, 'bench.BenchJob'"  # as enqueueing does
SLOTS = True
BATCH = 2_000  # the fastest of 500, 1000, 2000, 4000 and 8000; its default is 500


def setup() -> None:
    call_command("migrate", run_syncdb=True, verbosity=0)


def enqueue_one(task: str, sent_at: float) -> None:
    queue.enqueue([BenchJob(task=task, sent_at=sent_at)])


def enqueue_many(task: str, count: int) -> None:
    enqueue_made(make(task, count))


def make(task: str, count: int) -> list[BenchJob]:
    return [BenchJob(task=task) for _ in range(count)]


def enqueue_made(jobs: list[BenchJob]) -> None:
    queue.enqueue(jobs)


def work(slots: int) -> None:
    options = {"max_concurrent": slots} if slots else {"batch": BATCH}
    call_command("runworker", verbosity=0, **options)


def plain_insert() -> None:
    BenchJob.objects.create(task="noop")


def deepen(later: int, finished: int) -> None:
    """Fill the table like months of work, with the same priority as the measured jobs."""
    columns = "id, task, status, run_after, finished_at"
    with connection.cursor() as cursor:
        cursor.execute(
            f"""INSERT INTO bench_jobs ({columns})
                SELECT uuidv7(), 'noop', 'queued', now() + n * interval '1 second' + '1 day', NULL
                FROM generate_series(1, %s) AS n""",
            [later],
        )
        cursor.execute(
            f"""INSERT INTO bench_jobs ({columns})
                SELECT uuidv7(), 'noop', 'succeeded', now(), now() FROM generate_series(1, %s)""",
            [finished],
        )
        cursor.execute(
            """INSERT INTO job_attempts (job_id, kind, epoch, worker, started_at, outcome)
               SELECT id, 'bench.BenchJob', 1, 'worker', now(), 'succeeded'
               FROM bench_jobs WHERE status = 'succeeded'"""
        )


def look() -> None:
    """Ask what every worker asks once a second: due, suspect or abandoned jobs?"""
    found = question.ask([BenchJob], idle_worker())
    if found.due or found.suspect or found.expired:
        raise RuntimeError("There was something to do.")


@cache
def idle_worker() -> str:
    # The query also reads the worker's own row.
    columns = {"slots": 0, "version": "", "lease_expires_at": Now()}
    return models.Worker.objects.create(name="idle", **columns).name
