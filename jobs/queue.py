"""Every move of a job, in the order of its life. Nothing else writes `status`.

A move locks its rows in the order of their ids, looks whether they still are as it
expects (status, epoch), and only then writes; hooks and history in the same transaction.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.db import DatabaseError, OperationalError
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from jobs import database, history, hooks, outcomes, providers, wakeup
from jobs.errors import Cancel, LeaseLost
from jobs.hooks import HookRaised
from jobs.models import ENDED, Job, JobQuerySet, Outcome, Status
from jobs.outcomes import End

log = logging.getLogger(__name__)
JobT = TypeVar("JobT", bound=Job)

MOVES: Mapping[Status, Collection[Status]] = {
    Status.QUEUED: {Status.PROCESSING, Status.CANCELED},
    Status.PROCESSING: {Status.SUCCEEDED, Status.FAILED, Status.QUEUED, Status.CANCELED},
    Status.SUCCEEDED: {Status.QUEUED},
    Status.FAILED: {Status.QUEUED},
    Status.CANCELED: {Status.QUEUED},
}
NOT_HELD = {"locked_at": None, "locked_by": None, "lease_expires_at": None}
CHUNK = 500


def _move(jobs: QuerySet[Any], to: Status, **columns: Any) -> int:
    """Write a status, along MOVES only, with the columns that follow from it."""
    origins = [status for status in Status if to in MOVES[status]]
    held = {} if to == Status.PROCESSING else NOT_HELD
    finished_at = Now() if to in ENDED else None
    return jobs.filter(status__in=origins).update(
        status=to, updated_at=Now(), finished_at=finished_at, **held, **columns
    )


# -> queued


def enqueue(jobs: Iterable[Job]) -> list[UUID]:
    """Insert new jobs of one model in the caller's transaction; returns the ids created.

    Jobs that exist already, by a unique constraint of their model, are skipped.
    """
    created = database.insert_missing(list(jobs))
    if created:
        wakeup.announce()
    return created


# queued -> processing


def claim(
    model: type[JobT], slots: int, worker: str, lease: timedelta, *, suspect: bool = False
) -> list[JobT]:
    """Take up to `slots` due jobs, or one suspect: it must run alone."""
    due = model.objects.due()
    due = due.suspect() if suspect else due.trusted()
    try:
        return _claim(due, slots, worker, lease)
    except HookRaised:
        ids = due.in_turn().values_list("id", flat=True)
        return [job for id in ids[:slots] for job in _claim_one(due.filter(id=id), worker, lease)]


def _claim(
    due: JobQuerySet, slots: int, worker: str, lease: timedelta, *, hook: bool = True
) -> list[Any]:
    with database.transaction():
        slots = providers.room(due.model, slots)
        # SKIP LOCKED: step past rows another worker is claiming right now.
        jobs = list(due.in_turn().select_for_update(skip_locked=True)[:slots])
        if jobs:
            _move(
                due.model.objects.with_ids([job.id for job in jobs]),
                Status.PROCESSING,
                epoch=F("epoch") + 1,
                locked_at=Now(),
                locked_by=worker,
                lease_expires_at=Now() + lease,
            )
        for job in jobs:
            job.status = Status.PROCESSING
            job.epoch += 1
            if hook:
                hooks.call(job, "on_start")
    return jobs


def _claim_one(due: JobQuerySet, worker: str, lease: timedelta) -> list[Any]:
    """Claim one job; if its on_start raises, that is an attempt."""
    try:
        return _claim(due, 1, worker, lease)
    except HookRaised as raised:
        claimed = _claim(due, 1, worker, lease, hook=False)
        settle([outcomes.failure(job, raised.error) for job in claimed])
        return []


# processing, for longer


def beat(model: type[Job], claims: Mapping[UUID, int], lease: timedelta) -> set[UUID]:
    """Extend the leases of these claims (id: epoch); returns the ids that are still ours."""
    with database.transaction(statement=lease / 4):
        rows = model.objects.with_ids(claims).filter(status=Status.PROCESSING)
        held = rows.order_by("id").select_for_update().values_list("id", "epoch")
        ours = {id for id, epoch in held if claims[id] == epoch}
        rows.with_ids(ours).update(lease_expires_at=Now() + lease)
    return ours


# processing -> succeeded, failed, canceled, or queued again

Situation = Callable[[End, Any], bool]
FACTS = (
    "id",
    "status",
    "epoch",
    "attempts",
    "max_attempts",
    "interruptions",
    "is_expired",
    "is_impatient",
)


def _held(end: End, row: Any) -> bool:
    return bool(row.status == Status.PROCESSING and row.epoch == end.job.epoch)


def _expired(end: End, row: Any) -> bool:
    return _held(end, row) and bool(row.is_expired)


def _living(end: End, row: Any) -> bool:
    return row.status not in ENDED


def settle(ends: list[End], expected: Situation = _held) -> list[End]:
    """End many claims of one model in one transaction; returns those not found as expected.

    Repeatable: when the reply to a commit was lost, the second time has nothing to write.
    """
    if not ends:
        return []
    try:
        return _settle(ends, expected)
    except HookRaised:
        if len(ends) == 1:
            return settle(ends, expected)  # the end now says what to write instead
    except OperationalError:
        raise  # not the fault of any of them: repeat all of it later
    except DatabaseError:
        if len(ends) == 1:
            log.exception("%s can't be settled; its lease will run out", ends[0].job)
            return ends
    # One of them spoiled it for all: write each by itself.
    return [missed for end in ends for missed in settle([end], expected)]


def _settle(ends: list[End], expected: Situation) -> list[End]:
    model = type(ends[0].job)
    ours, missed = [], []
    with database.transaction():
        rows = {row.id: row for row in _lock(model, [end.job.id for end in ends])}
        for end in ends:
            row = rows.get(end.job.id)
            if row and expected(end, row):
                ours.append((end, row))
            else:
                missed.append(end)
        _write(model, ours)
    return missed


def _lock(model: type[Job], ids: list[UUID]) -> Iterable[Any]:
    """Lock these rows in the order of their ids, and say what decides about them.

    Questions of time are answered by the database, on its own clock.
    """
    jobs = model.objects.with_ids(ids).annotate(
        is_expired=Q(lease_expires_at__lt=Now()),
        is_impatient=Q(unavailable_since__lt=Now() - model.patience),
    )
    return jobs.order_by("id").select_for_update().values_list(*FACTS, named=True)


def _write(model: type[Job], ends: list[tuple[End, Any]]) -> None:
    """First the moves, one UPDATE for all that change alike; then the hooks; then history."""
    moves = defaultdict(list)
    for end, row in ends:
        to, columns = outcomes.follow(end, row)
        moves[to, tuple(columns.items())].append(end)
    history.record(model, [end for end, row in ends if row.status == Status.PROCESSING])
    for (to, changes), alike in moves.items():
        _move(model.objects.with_ids([end.job.id for end in alike]), to, **dict(changes))
    for (to, _), alike in moves.items():
        for end in alike:
            _call_hook_of(end, to)


def _call_hook_of(end: End, to: Status) -> None:
    if not end.hooks:
        return
    try:
        match to:
            case Status.SUCCEEDED:
                hooks.call(end.job, "on_success", end.result)
            case Status.FAILED:
                hooks.call(end.job, "on_failure", end.error)
            case Status.CANCELED:
                hooks.call(end.job, "on_cancel")
    except HookRaised as raised:
        end.spoil(raised.hook, raised.error)
        raise


# An abandoned claim: processing -> queued, or failed when it happened too often


def rescue(model: type[Job]) -> list[End]:
    """Take jobs back from workers whose lease is over; returns what was rescued."""
    abandoned = model.objects.expired().order_by("id")[:CHUNK]
    ends = [
        End(job, Outcome.LOST, error=LeaseLost(f"Its worker {job.locked_by} stopped beating."))
        for job in abandoned
    ]
    missed = settle(ends, expected=_expired)  # another worker was quicker, or it beats again
    return [end for end in ends if end not in missed]


# What a person asks for: queued, processing -> canceled, and succeeded, failed, canceled -> queued


def cancel(jobs: QuerySet[JobT], reason: str = "Canceled by a person.") -> tuple[int, int]:
    """Cancel what has not ended; returns how many were canceled and how many left alone."""
    canceled = left_alone = 0
    for chunk in _chunks(jobs):
        ends = [End(job, Outcome.CANCELED, error=Cancel(reason)) for job in chunk]
        missed = settle(ends, expected=_living)
        canceled += len(ends) - len(missed)
        left_alone += len(missed)
    return canceled, left_alone


def requeue(jobs: QuerySet[JobT]) -> tuple[int, int]:
    """Give ended jobs a new start; returns how many were queued and how many left alone."""
    requeued = total = 0
    for chunk in _chunks(jobs):
        requeued += _requeue(jobs.model, [job.id for job in chunk])
        total += len(chunk)
    if requeued:
        wakeup.announce()
    return requeued, total - requeued


def _requeue(model: type[Job], ids: list[UUID], *, hook: bool = True) -> int:
    try:
        with database.transaction():
            ended = model.objects.with_ids(ids).filter(status__in=ENDED)
            rows = list(ended.order_by("id").select_for_update())
            _move(
                model.objects.with_ids([job.id for job in rows]),
                Status.QUEUED,
                epoch=F("epoch") + 1,
                attempts=0,
                interruptions=0,
                run_after=Now(),
                unavailable_since=None,
            )
            for job in rows:
                if hook:
                    hooks.call(job, "on_requeue")
        return len(rows)
    except HookRaised as raised:
        if len(ids) > 1:
            return sum(_requeue(model, [id]) for id in ids)
        log.error("on_requeue raised in %s; it moves without the hook", ids, exc_info=raised.error)
        return _requeue(model, ids, hook=False)


def _chunks(jobs: QuerySet[JobT]) -> Iterator[list[JobT]]:
    """All of them, a bounded number at a time, in the order of their ids."""
    jobs = jobs.order_by("id")
    chunk = list(jobs[:CHUNK])
    while chunk:
        yield chunk
        chunk = list(jobs.filter(id__gt=chunk[-1].id)[:CHUNK])
