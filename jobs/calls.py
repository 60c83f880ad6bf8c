"""Paid calls: the intent before, the answer after, and what a crash in between leaves behind.

An answer is stored before anything is made of it. Whoever performs the job again starts from
what is stored; only what nobody can know is asked again, and counted.
"""

import hashlib
import logging
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import Error, connection
from django.db.models import Max
from django.db.models.functions import Now

from jobs import database, providers, readable, storage
from jobs.clients import Answer
from jobs.errors import (
    AnswerLost,
    GarbageAnswer,
    LeaseLost,
    NoRoom,
    OutcomeUnknown,
    PermanentError,
    ProviderUnavailable,
    Snooze,
    StorageUnavailable,
)
from jobs.models import Call, Job, State, Status, Worker
from jobs.run import Run

log = logging.getLogger(__name__)

Send = Callable[[float], Answer]  # is told how many seconds it may take

MARGIN = timedelta(seconds=30)  # that a run has beyond the deadline of its call
# Of these it is known that no answer is on its way; anything else may have been accepted.
KNOWN = (GarbageAnswer, PermanentError, ProviderUnavailable)


@dataclass(frozen=True)
class Bought:
    """An answer that is stored, and the call that brought it."""

    raw: bytes
    call: Call


def buy(run: Run, payload_hash: str, send: Send) -> Bought:
    """The answer to this request: the one that is stored, or else a new one, asked for once."""
    key = key_of(run.job, payload_hash)
    with run.step("store"):
        known = recover(key)
    if known:
        return known
    call, timeout = _wait_and_begin(run, key, payload_hash)
    answer = _ask(run, call, send, timeout)
    with run.step("store"):
        _keep(run, call, answer)
    return Bought(answer.raw, call)


def key_of(job: Job, payload_hash: str) -> str:
    """Names the purchase. Nobody can guess it, because nobody can guess the job's id."""
    return hashlib.sha256(f"{job.id} {payload_hash}".encode()).hexdigest()


# What earlier runs have left


def recover(key: str) -> Bought | None:
    """The stored answer, if there is one. Calls that nobody waits for any more become unknown."""
    for call in Call.objects.filter(key=key).exclude(state=State.FAILED).order_by("number"):
        raw = _read(call)
        if raw is not None:
            if call.state != State.STORED:
                _mark_stored(call, Answer(raw=raw))
            return Bought(raw, call)
        if call.state == State.STORED:
            _end(call, State.FAILED, "The stored answer is gone, or is not the same any more.")
        elif call.state == State.INTENT:
            _write_off(call)
    return None


def _read(call: Call) -> bytes | None:
    try:
        raw = storage.named("answers").read(call.answer_name)
    except FileNotFoundError:
        return None
    return raw if call.answer_hash in ("", _hash(raw)) else None


def _write_off(call: Call) -> None:
    """Nobody knows what became of it; unless its worker lives and may still bring the answer."""
    waiting = Call.objects.filter(pk=call.pk, deadline__gt=Now() - MARGIN / 2)
    alive = Worker.objects.filter(name=call.worker, lease_expires_at__gt=Now())
    if waiting.exists() and alive.exists():
        raise Snooze(5, f"An earlier call of {call.provider} for it is still under way.")
    _end(call, State.UNKNOWN, f"{call.worker} vanished before the answer was stored.")


# Intent


def _wait_and_begin(run: Run, key: str, payload_hash: str) -> tuple[Call, float]:
    """Begin a call; if the next token is a moment away, wait for it."""
    give_up_at = time.monotonic() + 2 * providers.AHEAD.total_seconds()
    while True:
        try:
            return _begin(run, key, payload_hash)
        except NoRoom as full:
            if full.wait is None or time.monotonic() + full.wait > give_up_at:
                raise
            with run.step("wait"):
                time.sleep(full.wait + random.uniform(0, 0.05))


def _begin(run: Run, key: str, payload_hash: str) -> tuple[Call, float]:
    """Confirm the claim, take a token, book the price, write the intent: all or nothing."""
    run.check()
    name = type(run.job).provider_name()
    assert name is not None, f"{run.job} makes a paid call, but its provider_name() is None."
    with database.short_transaction():
        provider = providers.lock(name)
        _confirm(run)
        _refuse_after_too_many(key)
        if Call.objects.filter(key=key, state=State.INTENT).exists():
            raise Snooze(5, f"Another call of {name} for it has just begun.")
        providers.take(provider)
        timeout = timedelta(seconds=provider.timeout)
        number = (Call.objects.filter(key=key).aggregate(last=Max("number"))["last"] or 0) + 1
        call = Call.objects.create(
            provider=name,
            job_id=run.job.id,
            kind=run.job._meta.label,
            epoch=run.epoch,
            worker=run.job.locked_by or "",
            key=key,
            number=number,
            payload_hash=payload_hash,
            answer_name=f"calls/{key}/{number}",
            cost=provider.price,
            deadline=provider.now + timeout,
            started_at=provider.now,
        )
    if run.deadline < time.monotonic() + (timeout + MARGIN).total_seconds():
        run.allow(timeout + MARGIN)
    return call, timeout.total_seconds()


def _confirm(run: Run) -> None:
    held = type(run.job).objects.filter(
        id=run.job.id, epoch=run.epoch, status=Status.PROCESSING, lease_expires_at__gt=Now()
    )
    if not held.exists():
        raise LeaseLost("The claim is gone: nothing may be bought for it.")


def _refuse_after_too_many(key: str) -> None:
    """Money that may have been spent for nothing has an end, unless a person says go on."""
    lost = Call.objects.filter(key=key, state=State.UNKNOWN, excused=False).count()
    if lost > settings.UNKNOWN_REPEATS:
        raise OutcomeUnknown(
            f"Outcome unknown: {lost} calls may have been paid for, but their answers were lost."
            " Look at the provider's own records, then requeue the job to ask again."
        )


def excuse(job_ids: Iterable[UUID]) -> None:
    """A person has seen these jobs' unknown calls and wants them to go on."""
    Call.objects.filter(job_id__in=list(job_ids), state=State.UNKNOWN).update(excused=True)


# Ask


def _ask(run: Run, call: Call, send: Send, timeout: float) -> Answer:
    try:
        with run.step("generate"):
            return send(timeout)
    except BaseException as error:
        _note(call, error)
        raise


def _note(call: Call, error: BaseException) -> None:
    """Record what became of a call that brought no answer, for its money and its provider."""
    billed = getattr(error, "billed", True)
    is_known = isinstance(error, KNOWN) and not isinstance(error, AnswerLost)
    state = State.FAILED if is_known or not billed else State.UNKNOWN
    try:
        _end(call, state, readable.message(error), cost=None if billed else Decimal(0))
        if isinstance(error, PermanentError):
            providers.note_answer(call.provider)
        elif isinstance(error, ProviderUnavailable | GarbageAnswer):
            providers.note_fault(call.provider, error)
    except Error as fault:  # the intent stays: who finds it takes the call for unknown
        log.error("%s could not be recorded: %s", call, fault)
        connection.close()
        return
    if state == State.UNKNOWN:
        _refuse_after_too_many(call.key)


def reject(bought: Bought, error: Exception) -> None:
    """The stored answer can't be used: the next attempt asks for another one."""
    _end(bought.call, State.FAILED, readable.message(error))
    providers.note_fault(bought.call.provider, error)


# Keep


def _keep(run: Run, call: Call, answer: Answer) -> None:
    """Store an answer that is in our hands, however long that takes, and say that it is."""
    patience = timedelta(seconds=settings.KEEP_ANSWER_SECONDS)
    run.holds_answer = True
    run.allow(patience + MARGIN)
    try:
        _insist(run, patience, lambda: _put(call, answer.raw))
        _insist(run, patience, lambda: _mark_stored(call, answer))
    except StorageUnavailable as error:
        _end(call, State.UNKNOWN, f"It was answered, but that could not be stored: {error}")
        raise AnswerLost(reason=f"The answer could not be stored: {error}") from error
    except Error as error:  # it is stored: who finds the intent will find it
        log.error("%s is stored, but that could not be recorded: %s", call, error)
    finally:
        run.holds_answer = False
        run.allow(type(run.job).timeout)


def _insist(run: Run, patience: timedelta, write: Callable[[], object]) -> None:
    """Repeat a write that fails for a passing reason, while the claim is ours."""
    give_up_at = time.monotonic() + patience.total_seconds()
    pause = 0.2
    while True:
        try:
            write()
            return
        except (StorageUnavailable, Error) as error:
            connection.close()
            if run.is_lost or time.monotonic() + pause > give_up_at:
                raise
            log.warning("The answer for %s is not kept yet: %s", run.job, error)
        time.sleep(pause * random.uniform(0.5, 1))
        pause = min(2 * pause, 10.0)


def _put(call: Call, raw: bytes) -> None:
    try:
        storage.named("answers").put(call.answer_name, raw)
    except StorageUnavailable as error:
        # No further answer is bought while there is no place to keep it.
        providers.note_fault(call.provider, error)
        raise


def _mark_stored(call: Call, answer: Answer) -> None:
    told: dict[str, Any] = {
        "answer_hash": _hash(answer.raw),
        "answer_size": len(answer.raw),
        "remote_id": readable.clean(answer.remote_id, 200),
    }
    with database.short_transaction():
        providers.note_answer(call.provider)
        _end(call, State.STORED, cost=answer.cost, **told)


def _hash(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


# How a call ends. Not guarded by the job's epoch: money spent by a worker that has lost its
# claim is spent all the same, and its answer is as good as any.

ENDS_FROM = {
    State.STORED: (State.INTENT, State.UNKNOWN),
    State.UNKNOWN: (State.INTENT,),
    State.FAILED: (State.INTENT, State.UNKNOWN, State.STORED),
}


def _end(
    call: Call, state: State, error: str = "", cost: Decimal | None = None, **told: object
) -> None:
    booked = call.cost
    cost = booked if cost is None else cost
    with database.short_transaction():
        if cost != booked:
            providers.lock(call.provider)
        ending = Call.objects.filter(pk=call.pk, state__in=ENDS_FROM[state])
        if ending.update(state=state, error=error, cost=cost, finished_at=Now(), **told):
            providers.book(call.provider, cost - booked, call.started_at)
        call.refresh_from_db()
