"""Tabie's queue behind Django's Tasks API, with fencing, history and everything else on."""

import os

import django
from django.core.management import call_command
from django.db import transaction

os.environ["DJANGO_SETTINGS_MODULE"] = "bench.settings"
django.setup()

from bench import tasks  # noqa: E402
from jobs.tasks import task  # noqa: E402

TABLES = ["task_jobs", "job_attempts", "job_workers"]
# An index serves each half, even among a million other jobs.
OPEN_JOBS = """
    SELECT 1 FROM task_jobs WHERE status = 'processing' UNION ALL
    SELECT 1 FROM task_jobs WHERE status = 'queued' AND priority = 0 AND run_after <= now()
"""
DONE_JOBS = "SELECT 1 FROM task_jobs WHERE status = 'succeeded'"
WAKE = "NOTIFY jobs"
SLOTS = True


@task
def noop(sent_at: float) -> None:
    tasks.noop(sent_at)


@task
def nap(sent_at: float) -> None:
    tasks.nap(sent_at)


@task
def stamp(sent_at: float) -> None:
    tasks.stamp(sent_at)


@task
def note(sent_at: float) -> None:
    tasks.note(sent_at)


TASKS = {"noop": noop, "nap": nap, "stamp": stamp, "note": note}


def setup() -> None:
    call_command("migrate", run_syncdb=True, verbosity=0)


def enqueue_one(task: str, sent_at: float) -> None:
    TASKS[task].enqueue(sent_at)


def enqueue_many(task: str, count: int) -> None:
    """Enqueue one by one in a transaction: Django's API has no bulk call."""
    with transaction.atomic():
        for _ in range(count):
            TASKS[task].enqueue(0.0)


def work(slots: int) -> None:
    options = {"max_concurrent": slots} if slots else {}
    call_command("runworker", verbosity=0, **options)
