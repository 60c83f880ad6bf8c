"""Ending claims: processing -> succeeded, failed, canceled, or queued again."""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db import DatabaseError, OperationalError
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from jobs import tracing
from jobs.db import compiled, faults, sessions
from jobs.db.durations import Milliseconds
from jobs.db.lookups import Blank
from jobs.db.sessions import BRIEF
from jobs.errors import LeaseLost
from jobs.models import ENDED, Job, Outcome, Status
from jobs.queue import history, hooks, outcomes, processes, successes, totals
from jobs.queue.hooks import HookRaised, HookWaited
from jobs.queue.moves import CHUNK, compiled_move, move
from jobs.queue.outcomes import End
from jobs.tracing import logged

log = logging.getLogger(__name__)

Expectation = Callable[[End, Any], bool]


class Row(NamedTuple):
    """What a decision about a job needs to know of its row."""

    id: UUID
    status: str
    epoch: int
    locked_by: str | None
    attempts: int
    max_attempts: int
    interruptions: int
    is_expired: bool | None
    is_impatient: bool | None
    milliseconds: int | None
    process_id: UUID | None


def _held(end: End, row: Any) -> bool:
    """The worker's name too: a failover that lost commits can issue an epoch twice."""
    claim = (Status.PROCESSING, end.job.epoch, end.job.locked_by)
    return (row.status, row.epoch, row.locked_by) == claim


def _expired(end: End, row: Any) -> bool:
    return _held(end, row) and bool(row.is_expired)


def is_living(end: End, row: Any) -> bool:
    return row.status not in ENDED


@logged
def settle(ends: list[End], expected: Expectation = _held, *, wait: bool = False) -> list[End]:
    """End many claims of one model; returns the ends that were not written.

    Plain successes are written by one statement, all others in one transaction. An end is not
    written if the claim has ended already, or if its row was locked: then `is_busy` is set. Safe
    to repeat: if the commit succeeded and only its reply was lost, the second call finds nothing
    to write.
    """
    if not ends:
        return []
    try:
        return _settle(ends, expected, wait)
    except HookWaited:
        if len(ends) == 1:
            ends[0].is_busy = True
            return ends
    except HookRaised:
        if len(ends) == 1:
            return settle(ends, expected, wait=wait)  # `spoil` changed what to write
    except DatabaseError as error:
        if isinstance(error, OperationalError) or faults.is_passing(error):
            raise  # no job is to blame: the caller repeats all of them later
        if len(ends) == 1:
            return _settle_refused(ends[0], expected, error)
    # One of them rolled all back: write each by itself.
    with sessions.with_patience(BRIEF):
        return [missed for end in ends for missed in settle([end], expected, wait=wait)]


def _settle_refused(end: End, expected: Expectation, error: DatabaseError) -> list[End]:
    if end.spoil("The database", error):
        return settle([end], expected)
    with tracing.on_behalf_of(end.job):
        log.error("%s can't be settled; its lease will run out", end.job, exc_info=error)
    return [end]


def _settle(ends: list[End], expected: Expectation, wait: bool) -> list[End]:
    others = successes.settle(ends) if expected is _held else ends
    return _settle_by_steps(others, expected, wait) if others else []


def _settle_by_steps(ends: list[End], expected: Expectation, wait: bool) -> list[End]:
    model = type(ends[0].job)
    with sessions.short_transaction():
        ids = [end.job.id for end in ends]
        rows = _facts(_locking(model, model.patience, wait), ids)
        # One end per job: a failover that lost a claim can let a worker end the same claim twice.
        ours: dict[UUID, End] = {}
        for end in ends:
            if _is(expected, end, rows):
                ours.setdefault(end.job.id, end)
        # In the order of their ids, in which hooks then lock what they touch.
        write(model, [(ours[id], row) for id, row in rows.items() if id in ours])
        hooks.check_constraints()
        if len(ours) == len(ends):
            return []
        missed = [end for end in ends if ours.get(end.job.id) is not end]
        rows = _facts(_reading(model, model.patience), ids)
        for end in missed:
            end.is_busy = _is(expected, end, rows)
    return missed


@cache
def _locking(model: type[Job], patience: timedelta, wait: bool) -> compiled.Select:
    rows = with_facts(model.objects.with_ids(Blank.IDS), patience).values_list(*Row._fields)
    return compiled.Select(rows.order_by("id").select_for_update(skip_locked=not wait))


@cache
def _reading(model: type[Job], patience: timedelta) -> compiled.Select:
    rows = with_facts(model.objects.with_ids(Blank.IDS), patience)
    return compiled.Select(rows.values_list(*Row._fields))


def _facts(rows: compiled.Select, ids: list[UUID]) -> dict[UUID, Row]:
    return {row[0]: Row._make(row) for row in rows.tuples(ids)}


def _is(expected: Expectation, end: End, rows: Mapping[UUID, Any]) -> bool:
    row = rows.get(end.job.id)
    return row is not None and expected(end, row)


def with_facts(jobs: QuerySet[Any], patience: timedelta) -> QuerySet[Any]:
    """Add what a decision about a job needs. Times are compared by the database's clock."""
    facts: QuerySet[Any] = jobs.annotate(
        is_expired=Q(lease_expires_at__lt=Now()),
        is_impatient=Q(unavailable_since__lt=Now() - patience),
        milliseconds=Milliseconds(Now() - F("locked_at")),
    )
    return facts


def write(model: type[Job], ends: list[tuple[End, Any]]) -> None:
    """Write the history, then the moves (one UPDATE for all that change alike), then call hooks."""
    moves = defaultdict(list)
    for end, row in ends:
        to, columns = outcomes.follow(end, row)
        end.moved_to = to
        moves[to, tuple(columns.items())].append(end)
    recorded = history.record(model, [end for end, row in ends if row.status == Status.PROCESSING])
    totals.record(model, recorded, {row.id: row.milliseconds for _, row in ends})
    for (to, changes), alike in moves.items():
        ids = [end.job.id for end in alike]
        if to == Status.SUCCEEDED:
            _succeeding(model, changes).execute(ids)
        else:
            move(model.objects.with_ids(ids), to, **dict(changes))
    empty = processes.note_ends([(row, end.moved_to) for end, row in ends if end.moved_to])
    for (to, _), alike in moves.items():
        _call_hooks_of([end for end in alike if end.calls_hook], to)
    processes.end_empty(empty)


@cache
def _succeeding(model: type[Job], changes: tuple[tuple[str, Any], ...]) -> compiled.Statement:
    return compiled_move(model.objects.with_ids(Blank.IDS), Status.SUCCEEDED, **dict(changes))


def _call_hooks_of(ends: list[End], to: Status) -> None:
    if to == Status.CANCELED and len(ends) > 1:
        hooks.call_of_each([end.job for end in ends], "on_cancel")
        return
    for end in ends:
        try:
            _call_hook_of(end, to)
        except HookWaited:
            raise
        except HookRaised as raised:
            end.spoil(raised.hook, raised.error)
            raise


def _call_hook_of(end: End, to: Status) -> None:
    match to:
        case Status.SUCCEEDED:
            hooks.call(end.job, "on_success", end.result)
        case Status.FAILED:
            hooks.call(end.job, "on_failure", end.error)
        case Status.CANCELED:
            hooks.call(end.job, "on_cancel")


# An abandoned claim: processing -> queued, or failed after too many interruptions


@logged
def rescue(model: type[Job], spared: Collection[UUID] = ()) -> list[End]:
    """Take jobs back from workers whose lease is over; returns the ends of those claims."""
    with sessions.short_transaction():
        abandoned = list(model.objects.expired().order_by("id")[:CHUNK])
    ends = [
        End(job, Outcome.LOST, error=LeaseLost(f"Its worker {job.locked_by} stopped beating."))
        for job in abandoned
        if job.id not in spared
    ]
    missed = settle(ends, expected=_expired)  # another worker was quicker, or the owner beats again
    return [end for end in ends if end not in missed]
