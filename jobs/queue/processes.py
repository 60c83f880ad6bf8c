"""Counting the jobs of a process, in the transactions that move them.

Rows of processes are locked after those of jobs, in the order of their ids. The transaction that
ends the last job enqueues what follows, so it follows exactly once.
"""

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.core import serializers
from django.db import Error, connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from jobs import tracing
from jobs.db import faults, inserts, text
from jobs.errors import ProcessEnded
from jobs.models import ENDED, Job, Process, Status, job_models, uuid7
from jobs.queue import wakeup
from jobs.queue.hooks import HookWaited
from jobs.tracing import logged

log = logging.getLogger(__name__)

COUNTED = {Status.FAILED: "failed", Status.CANCELED: "canceled"}  # beside those that succeeded


# A process begins and is sealed


@logged
def start(label: object, *, then: Job | None = None) -> Process:
    """Create a process; jobs join it by their `process_id`, and `seal` says that all have.

    `then` is enqueued when the last of them has ended.
    """
    process, _ = join_or_start(uuid7(), label, then=then)
    return process


@transaction.atomic
def join_or_start(id: UUID, label: object, *, then: Job | None = None) -> tuple[Process, bool]:
    """The process with this id, locked, or a new one; and whether it is new.

    Raises ProcessEnded if it has ended, and ValueError if `then` comes after its start.
    """
    columns = {"label": text.clean(label, 200), "follow": as_json(then) if then else None}
    locked = Process.objects.select_for_update()
    process, is_new = locked.get_or_create(pk=id, defaults=columns)
    if not is_new:
        _check_open(process)
        if then:
            raise ValueError(f"The process {id} exists: what follows it was said at its start.")
    return process, is_new


def _check_open(process: Process) -> None:
    if process.ended_at:
        raise ProcessEnded(f"The process {process.pk} ({process}) has ended: start another one.")


@logged
def seal(process: Process) -> None:
    """All jobs are added: the process ends when they have, or at once if they have already."""
    with transaction.atomic():
        for row in _locked([process.pk]):
            row.sealed = True
            row.save(update_fields=["sealed"])
            _end(row)
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
        _check_open(row)
        row.total += number
        row.open += number
        row.save(update_fields=["total", "open"])


def note_ends(ends: Collection[tuple[Any, Status]]) -> list[UUID]:
    """Count jobs that just ended: their rows, as they were before, and their new status.

    Returns the processes without open jobs. `end_empty` ends them after the hooks, because a hook
    may add a job to the process of its own job.
    """
    counted = [(row, to) for row, to in ends if row.process_id and to in ENDED]
    if not counted:
        return []
    with _in_turn():
        return _count(counted, -1)


def end_empty(ids: Collection[UUID]) -> None:
    """End those of these processes that still have no open job."""
    if not ids:
        return
    with _in_turn():
        for process in _locked(ids):
            _end(process)


def note_requeued(rows: Collection[Any]) -> None:
    """Count jobs that just came back: their rows, as they were before.

    A process that has ended is open again. What followed it does not follow twice.
    """
    with _in_turn():
        _count([(row, row.status) for row in rows if row.process_id], +1)


def _count(moved: list[tuple[Any, Status]], sign: int) -> list[UUID]:
    numbers = Counter(row.process_id for row, _ in moved)
    ways = Counter((row.process_id, COUNTED.get(status)) for row, status in moved)
    processes = list(_locked(numbers))
    for process in processes:
        # At least 0: a row that a program inserted by plain SQL was never counted.
        process.open = max(process.open + sign * numbers[process.pk], 0)
        for name in COUNTED.values():
            number = getattr(process, name) - sign * ways[process.pk, name]
            setattr(process, name, max(number, 0))
        _save_open(process, *COUNTED.values())
    return [process.pk for process in processes if not process.open]


@logged
def recount(id: UUID) -> None:
    """Set the count of open jobs to the truth, and end the process if there are none.

    It differs only if a program deleted or inserted jobs past the queue, for instance by a
    cascade. Moves that have not committed yet wait for the lock, and then count themselves.
    """
    with transaction.atomic():
        for process in _locked([id]):
            living = [model.objects.filter(process_id=id).living() for model in job_models()]
            process.open = sum(jobs.count() for jobs in living)
            _save_open(process)
            _end(process)


def _save_open(process: Process, *others: str) -> None:
    if process.open:
        process.ended_at = None
    process.save(update_fields=["open", "ended_at", *others])


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


def _end(process: Process) -> None:
    """End a locked process, if all its jobs are added and have ended."""
    if process.open or not process.sealed or process.ended_at:
        return
    process.ended_at = Now()
    _follow(process)
    process.save(update_fields=["ended_at", "followed_at", "follow_error"])


# What follows


def _follow(process: Process) -> None:
    """Enqueue what follows, once in the life of a process.

    What can't be enqueued must not keep the last job from ending: the process says why. When it
    ends once more, after a requeue, this is tried again.
    """
    if process.follow is None or process.followed_at:
        return
    if connection.vendor == "postgresql":
        connection.check_constraints()  # else what follows would be blamed for the caller's fault
    try:
        with transaction.atomic():
            _enqueue(from_json(process.follow))
    except Exception as error:
        if faults.is_passing(error):
            raise
        process.follow_error = text.message(error)
        with tracing.inside(_trace_of(process.follow)):
            log.error("Nothing follows the process %s (%s)", process.pk, process, exc_info=error)
    else:
        process.followed_at = Now()
        process.follow_error = ""


def _trace_of(follow: Any) -> str | None:
    try:
        return str(follow["fields"]["trace"])
    except (KeyError, TypeError):  # it has none, or is no job at all
        return None


def _enqueue(job: Job) -> None:
    if inserts.insert_missing([job]):
        # A deferred constraint would be checked at COMMIT, and the last job would be blamed.
        connection.check_constraints([type(job)._meta.db_table])
        wakeup.announce(type(job))


@logged
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


@logged
def let_nothing_follow(process: Process) -> None:
    """A person has looked into it: nothing follows this process."""
    Process.objects.filter(pk=process.pk).update(follow=None, follow_error="")


def as_json(job: Job) -> dict[str, Any]:
    """A job that is not enqueued yet, as a process keeps it. Its id makes it follow once only."""
    if job.process_id or not job._state.adding:
        raise ValueError(f"{job} can't follow a process: it is enqueued, or belongs to one itself.")
    tracing.note_origin(job)
    fields = [field.name for field in inserts.given(type(job), [job])]
    [kept] = serializers.serialize("python", [job], fields=fields)
    return dict(kept)


def from_json(kept: Mapping[str, Any]) -> Job:
    [found] = serializers.deserialize("python", [dict(kept)])
    job: Job = found.object  # type: ignore[assignment]
    return job
