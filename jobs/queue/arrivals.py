"""New jobs: enqueued in the caller's transaction, each once.

A job that another job enqueues, in `perform` or in a hook, is its follow-up: it keeps where it
came from, and goes on in the same trace and the same process.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import models, transaction

from jobs import spans, tracing
from jobs.db import inserts
from jobs.models import Job, Process
from jobs.queue import processes, uniqueness, wakeup
from jobs.queue.uniqueness import While
from jobs.tracing import logged

TRIES = 3  # to insert a job whose key is given away just then


@logged
def enqueue(
    jobs: Iterable[Job],
    *,
    unique_while: While | None = None,
    not_within: timedelta | None = None,
) -> list[UUID]:
    """Insert new jobs of one model in the caller's transaction; returns the ids created.

    Jobs that exist already, by a unique constraint of their model, are skipped. A job with a
    `unique_key` is skipped while another one with its key is "queued" or "open" (queued or
    processing), and `not_within` this time after the last one was enqueued.
    """
    jobs = list(jobs)
    uniqueness.check(jobs, unique_while, not_within)
    jobs = uniqueness.in_order(jobs)
    with spans.enqueue(jobs):
        _hand_on(jobs)
        created = _insert_all(jobs, not_within)
    if created:
        wakeup.announce(type(jobs[0]))
    return created


def _insert_all(jobs: list[Job], not_within: timedelta | None) -> list[UUID]:
    if not_within or any(job.process_id for job in jobs):
        with transaction.atomic(savepoint=False):
            return _insert(jobs, not_within)
    return _insert_missing(jobs)


def _insert(jobs: list[Job], not_within: timedelta | None) -> list[UUID]:
    created = _insert_missing(jobs)
    given = {job.id: job for job in jobs}  # once, even if a caller gives one job twice
    new = [given[id] for id in created]
    if not_within:
        refused = uniqueness.refused(new, not_within)
        if refused:
            # No other session has seen them. Not by their own manager: it refuses living jobs.
            inserted: models.QuerySet[Any] = models.QuerySet(type(new[0]))
            inserted.filter(pk__in=refused).delete()
            new = [job for job in new if job.id not in refused]
    processes.add(new)
    return [job.id for job in new]


def _insert_missing(jobs: list[Job]) -> list[UUID]:
    created = inserts.insert_missing(jobs)
    for _ in range(TRIES):
        known = set(created)
        free = uniqueness.rely_on_others([job for job in jobs if job.id not in known])
        if not free:
            break
        created += inserts.insert_missing(free)
    return created


def _hand_on(jobs: list[Job]) -> None:
    process_id = _open_process(tracing.acting.get())
    for job in jobs:
        tracing.note_origin(job)
        job.process_id = job.process_id or process_id


def _open_process(parent: Job | None) -> UUID | None:
    if parent is None or parent.process_id is None:
        return None
    is_open = Process.objects.living().filter(pk=parent.process_id).exists()
    return parent.process_id if is_open else None
