"""django-tasks-db: Django's Tasks API on the ORM, one task at a time, found by polling."""

import os

import django
from django.conf import settings
from django.core.management import call_command
from django.db import transaction

settings.configure(
    INSTALLED_APPS=["django_tasks", "django_tasks_db"],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": os.environ["PGDATABASE"],
            "CONN_MAX_AGE": None,
        }
    },
    TASKS={"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}},
    USE_TZ=True,
)
django.setup()

from django_tasks import task  # noqa: E402

from bench import tasks  # noqa: E402

TABLES = ["django_tasks_database_dbtaskresult"]
OPEN_JOBS = f"SELECT 1 FROM {TABLES[0]} WHERE status IN ('READY', 'RUNNING')"
DONE_JOBS = f"SELECT 1 FROM {TABLES[0]} WHERE status = 'SUCCESSFUL'"
WAKE = ""
SLOTS = False


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
    call_command("migrate", verbosity=0)


def enqueue_one(task: str, sent_at: float) -> None:
    TASKS[task].enqueue(sent_at)


def enqueue_many(task: str, count: int) -> None:
    """Enqueue one by one in a transaction: it has no bulk call."""
    with transaction.atomic():
        for _ in range(count):
            TASKS[task].enqueue(0.0)


def work(slots: int) -> None:
    call_command("db_worker", verbosity=0, startup_delay=False, reload=False)
