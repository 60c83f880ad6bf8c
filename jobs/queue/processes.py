"""Counting the jobs of a process, in the transactions that move them.

Rows of processes are locked after those of jobs, in the order of their ids. The move that ends
the last job enqueues what follows, so it follows exactly once, or not at all.
"""

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.core import serializers
from django.db import Error, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from jobs.db import faults, inserts, text
from jobs.errors import ProcessEnded
from jobs.models import ENDED, Job, Process, Status
from jobs.queue import wakeup
from jobs.queue.hooks import HookWaited

log = logging.getLogger(__name__)

COUNTED = {Status.FAILED: "failed", Status.CANCELED: "canceled"}  # beside those that succeeded


# A process begins and is sealed


def start(label: str, *, id: UUID | None = None, then: Job | None = None) -> Process:
    """Create a process; jobs join it by their `process_id`, and `seal` says that all have.

    `then` is enqueued when the last of them has ended.
    """
    process = Process(label=text.clean(label, 200), follow=as_json(then) if then else None)
    if id is not None:
        process.id = id
    process.save(force_insert=True)
    return process


def seal(process: Process) -> None:
    """All jobs are added: the process ends when they have, or at once if they have already."""
    with transaction.atomic():
        for row in _locked([process.pk]):
            row.sealed = True
            _write(row)
    process.refresh_from_db()


# Its jobs come, end, and come again


def add(jobs: Iterable[Job]) -> None:
    """Count jobs that were just inserted; raises ProcessEnded if their process can't take them."""
    added = Counter(job.process_id for job in jobs if job.process_id)
    rows = {row.pk: row for row in _locked(added)}
    for id, number in added.items():
        row = rows.get(id)
        if row is None:
            raise ProcessEnded(f"There is no process {id}: start it before its jobs.")
        if row.ended_at:
            raise ProcessEnded(f"The process {id} ({row}) has ended: start another one.")
        row.total += number
        row.open += number
        _write(row)


def note_ends(ends: Collection[tuple[Any, Status]]) -> None:
    """Count jobs that just ended: their rows, as they were before, and their new status."""
    with _in_turn():
        ended = [(row, to) for row, to in ends if row.process_id and to in ENDED]
        _count(ended, -1)


def note_requeued(rows: Collection[Any]) -> None:
    """Count jobs that just came back: their rows, as they were before."""
    with _in_turn():
        _count([(row, row.status) for row in rows if row.process_id], +1)


def _count(moved: list[tuple[Any, Status]], sign: int) -> None:
    numbers = Counter(row.process_id for row, _ in moved)
    ways = Counter((row.process_id, COUNTED.get(status)) for row, status in moved)
    for process in _locked(numbers):
        # At least 0: a row that a program inserted by plain SQL was never counted.
        process.open = max(process.open + sign * numbers[process.pk], 0)
        for name in COUNTED.values():
            number = getattr(process, name) - sign * ways[process.pk, name]
            setattr(process, name, max(number, 0))
        _write(process)


@contextmanager
def _in_turn() -> Iterator[None]:
    """A locked process holds up its own jobs only: the others are moved without them."""
    try:
        yield
    except Error as error:
        if faults.is_conflict(error):
            raise HookWaited("its process", error) from error
        raise


def _locked(ids: Collection[UUID] | Mapping[UUID, int]) -> QuerySet[Process]:
    if not ids:
        return Process.objects.none()
    return Process.objects.filter(pk__in=list(ids)).order_by("pk").select_for_update()


def _write(process: Process) -> None:
    """Write the counts of a locked process, and end it if that was its last job."""
    is_over = process.sealed and process.open == 0
    if is_over and process.ended_at is None:
        process.ended_at = Now()
        _follow(process)
    elif not is_over:
        process.ended_at = None
    process.save(force_update=True)


# What follows


def _follow(process: Process) -> None:
    """Enqueue what follows, once in the life of a process.

    What can't be enqueued must not keep the last job from ending: the process says why.
    """
    if process.follow is None or process.followed_at is not None:
        return
    process.followed_at = Now()
    try:
        with transaction.atomic():
            if inserts.insert_missing([from_json(process.follow)]):
                wakeup.announce()
    except Exception as error:
        if faults.is_passing(error):
            raise
        process.follow_error = text.message(error)
        log.error("Nothing follows the process %s (%s)", process.pk, process, exc_info=error)


def follow_again(process: Process) -> bool:
    """Try once more to enqueue what could not follow; False if it fails again."""
    with transaction.atomic():
        for row in _locked([process.pk]):
            if row.follow_error and row.ended_at:
                row.follow_error, row.followed_at = "", None
                _follow(row)
                row.save(force_update=True)
            return not row.follow_error
    return False


def let_nothing_follow(process: Process) -> None:
    """A person has looked into it: nothing follows this process."""
    Process.objects.filter(pk=process.pk).update(follow_error="")


def as_json(job: Job) -> dict[str, Any]:
    """A job that is not enqueued yet, as a process keeps it. Its id makes it follow once only."""
    fields = [field.name for field in inserts.given(type(job), [job])]
    [kept] = serializers.serialize("python", [job], fields=fields)
    return dict(kept)


def from_json(kept: Mapping[str, Any]) -> Job:
    [found] = serializers.deserialize("python", [dict(kept)])
    job: Job = found.object  # type: ignore[assignment]
    return job
