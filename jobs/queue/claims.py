"""Taking due jobs: queued -> processing."""

import logging
import math
import random
from datetime import timedelta
from functools import cache, partial
from typing import Any, TypeVar

from django.db import Error, IntegrityError, connection
from django.db.models import F, Value
from django.db.models.functions import Now

from jobs import tracing
from jobs.db import compiled, sessions
from jobs.db.lookups import Blank
from jobs.db.sessions import BRIEF
from jobs.models import Job, JobQuerySet, Status
from jobs.paid import limits
from jobs.queue import hooks, outcomes, uniqueness
from jobs.queue.front import Front, Scan, Take
from jobs.queue.hooks import HookRaised, HookWaited
from jobs.queue.moves import compiled_move, compiled_taking
from jobs.queue.settling import settle
from jobs.tracing import logged

log = logging.getLogger(__name__)
JobT = TypeVar("JobT", bound=Job)

LATER = timedelta(seconds=5)  # until the next claim of a job whose on_start met a locked row


@logged
def claim(
    model: type[JobT],
    slots: int,
    worker: str,
    lease: timedelta,
    *,
    suspect: bool = False,
    front: Front | None = None,
    time_left: float = math.inf,
) -> list[JobT]:
    """Take up to `slots` due jobs: trusted ones, or with `suspect` those that must run alone.

    A worker keeps the `front` of each model, so that its next claim need not begin anew.
    One that ends in `time_left` seconds leaves tasks alone that may be paid for and outlast it.
    """
    due, front = _due(model, suspect), front or Front()
    usual = _usual(model, suspect, lease)
    take = partial(usual.update, WORKER=worker) if usual else None
    try:
        if take and slots > 0 and front.is_at_the_beginning and _is_one_statement(model):
            return _claim_at_once(due, slots, front, take)
        return _claim(due, slots, worker, lease, front=front, time_left=time_left, take=take)
    except HookRaised:
        return _claim_one_by_one(due, slots, worker, lease)


@cache  # as many as there are models
def _due(model: type[Job], suspect: bool) -> JobQuerySet:
    due: JobQuerySet = model.objects.due()
    return due.suspect() if suspect else due.trusted()


def _is_one_statement(model: type[Job]) -> bool:
    """Whether a claim does no more than move rows: no hook, no limits, no caller's transaction."""
    has_hook = model.on_start is not Job.on_start
    return not (has_hook or model.provider_name() or connection.in_atomic_block)


def _claim_at_once(due: JobQuerySet, slots: int, front: Front, take: Take) -> list[Any]:
    try:
        with sessions.short_statement():
            scan = front.scan(due, slots, take)
    except IntegrityError as error:
        raise HookRaised("a constraint", error) from error
    front.advance(scan)
    return scan.jobs


def _claim(
    due: JobQuerySet,
    slots: int,
    worker: str,
    lease: timedelta,
    *,
    hook: bool = True,
    front: Front | None = None,
    time_left: float = math.inf,
    take: Take | None = None,
) -> list[Any]:
    front = front or Front()
    with hooks.transaction_of_hooks():
        scans = _lock(due, slots, front, time_left, take)
        _move(due.model, worker, lease, [job for scan in scans for job in scan.unmoved])
        jobs = [job for scan in scans for job in scan.jobs]
        for job in jobs if hook else []:
            hooks.call(job, "on_start")
    if len(scans) == 1:
        front.advance(scans[0])  # not before the commit, which may fail
    return jobs


def _lock(
    due: JobQuerySet, slots: int, front: Front, time_left: float, take: Take | None
) -> list[Scan]:
    """Lock due jobs for which their providers have room: all providers first, in their order."""
    at_claim = due.model.takes_at_claim
    lanes = due.lanes()
    if at_claim and due.model.longest_timeout().total_seconds() > time_left:
        lanes = [lane for lane in lanes if not lane[0]]  # a paid run could outlast its worker
    room = {provider: limits.room(provider, slots, at_claim=at_claim) for provider, _ in lanes}
    if len(lanes) > 1:
        front = Front()  # each lane begins elsewhere
        random.shuffle(lanes)  # none should starve
    scans: list[Scan] = []
    for provider, lane in lanes:
        free = min(room[provider], slots)
        scan = front.scan(_in_turn(lane), free, take)
        if provider and scan.jobs and at_claim:
            limits.take_at_claim(provider, len(scan.jobs))
        slots -= len(scan.jobs)
        scans.append(scan)
    return scans


def _in_turn(lane: JobQuerySet) -> JobQuerySet:
    # SKIP LOCKED: step past rows another worker is claiming right now.
    return lane.in_turn().select_for_update(skip_locked=True)


@cache
def _usual(model: type[Job], suspect: bool, lease: timedelta) -> compiled.Returning | None:
    """Takes the first due jobs. None: its manager adds to the rows or has lanes of its own."""
    due = _in_turn(_due(model, suspect))
    if type(due).lanes is not JobQuerySet.lanes or not compiled.is_plain(due):
        return None
    return compiled_taking(due, Status.PROCESSING, **_columns(lease))


def _move(model: type[Job], worker: str, lease: timedelta, jobs: list[Any]) -> None:
    if not jobs:
        return
    _compiled_move(model, lease).execute([job.id for job in jobs], WORKER=worker)
    for job in jobs:
        job.status, job.locked_by = Status.PROCESSING, worker
        job.epoch += 1


@cache
def _compiled_move(model: type[Job], lease: timedelta) -> compiled.Statement:
    jobs = model.objects.with_ids(Blank.IDS)
    return compiled_move(jobs, Status.PROCESSING, **_columns(lease))


def _columns(lease: timedelta) -> dict[str, Any]:
    return {
        "epoch": F("epoch") + 1,
        "locked_at": Now(),
        "locked_by": Value(Blank.WORKER),
        "lease_expires_at": Now() + lease,
        "progress": None,  # it told about the run before
        "unique_key": uniqueness.UNLESS_QUEUED_ONLY,
    }


def _claim_one_by_one(due: JobQuerySet, slots: int, worker: str, lease: timedelta) -> list[Any]:
    claimed: list[Any] = []
    try:
        with sessions.short_transaction():
            ids = list(due.in_turn().values_list("id", flat=True)[:slots])
        with sessions.with_patience(BRIEF):
            for id in ids:
                claimed += _claim_one(due.filter(id=id), worker, lease)
    except Error:
        if not claimed:
            raise
        # The jobs claimed so far stay claimed: return them.
    return claimed


def _claim_one(due: JobQuerySet, worker: str, lease: timedelta) -> list[Any]:
    """Claim one job. If its on_start raises or breaks a constraint, that uses an attempt."""
    try:
        return _claim(due, 1, worker, lease)
    except HookWaited as waited:
        _put_off(due, waited)
    except HookRaised as raised:
        _claim_and_fail(due, worker, lease, raised.error)
    return []


def _claim_and_fail(due: JobQuerySet, worker: str, lease: timedelta, error: BaseException) -> None:
    try:
        guilty = _claim(due, 1, worker, lease, hook=False)
        settle([outcomes.failure(job, error) for job in guilty])
    except HookRaised as raised:  # not on_start, which was left out: a constraint refuses the claim
        _put_off(due, raised)


def _put_off(due: JobQuerySet, why: HookRaised) -> None:
    with sessions.short_transaction():
        jobs = list(due)
        due.update(run_after=Now() + LATER)
    for job in jobs:
        with tracing.on_behalf_of(job):
            log.warning("%s can't be claimed now: %s", job, why)
