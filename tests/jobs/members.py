"""Processes of chores, and what follows them."""

from jobs import queue
from jobs.queue import processes
from tests.testapp.models import Chore


def start(*names, then=None, sealed=True):
    process = processes.start("spring cleaning", then=then)
    add(process, *names)
    if sealed:
        processes.seal(process)
    return process


def add(process, *names):
    queue.enqueue([Chore(name=name, process_id=process.pk) for name in names])


def counts(process):
    process.refresh_from_db()
    return process.total, process.open, process.failed, process.canceled


def has_ended(process):
    process.refresh_from_db()
    return process.ended_at is not None


def rest():
    """What follows in these tests."""
    return Chore(name="rest")


def has_followed():
    return Chore.objects.filter(name="rest").count()
