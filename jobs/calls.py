"""Paid calls: the intention on record before anything is sent, and what became of it after.

An answer is stored before anything is made of it (`answers`). Whoever performs the job again
starts from there; only what nobody can know is asked again, and counted.
"""

import hashlib
import logging
import random
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from django.conf import settings
from django.db import Error, connection
from django.db.models import Max
from django.db.models.functions import Now

from jobs import answers, database, providers, readable
from jobs.answers import Bought
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
    StorageRefused,
)
from jobs.models import Call, Job, State, Status
from jobs.run import Run

log = logging.getLogger(__name__)

Send = Callable[[float], Answer]  # is told how many seconds it may take

# Of these it is known that no answer is on its way; anything else may have been accepted.
KNOWN = (GarbageAnswer, PermanentError, ProviderUnavailable)


def buy(run: Run, payload_hash: str, send: Send) -> Bought:
    """The answer to this request: the one that is stored, or else a new one, asked for once."""
    provider = type(run.job).provider_name()
    assert provider, f"{run.job} makes a paid call, but its provider_name() is None."
    key = key_of(run.job, payload_hash)
    with run.step("store"), answers.pausing_if(StorageRefused, provider):
        known = answers.recover(key)
    if known:
        return known
    call, timeout = _wait_and_begin(run, provider, key, payload_hash)
    answer = _ask(run, call, send, timeout)
    with run.step("store"):
        answers.keep(run, call, answer)
    return Bought(answer.raw, call)


def key_of(job: Job, payload_hash: str) -> str:
    """Names the purchase. Nobody can guess it, because nobody can guess the job's id."""
    return hashlib.sha256(f"{job.id} {payload_hash}".encode()).hexdigest()


# Intent


def _wait_and_begin(run: Run, name: str, key: str, payload_hash: str) -> tuple[Call, float]:
    """Begin a call; if the next token is a moment away, wait for it."""
    give_up_at = time.monotonic() + 2 * providers.AHEAD.total_seconds()
    while True:
        try:
            return _begin(run, name, key, payload_hash)
        except NoRoom as full:
            if full.wait is None or time.monotonic() + full.wait > give_up_at:
                raise
            with run.step("wait"):
                time.sleep(full.wait + random.uniform(0, 0.05))


def _begin(run: Run, name: str, key: str, payload_hash: str) -> tuple[Call, float]:
    """Confirm the claim, take a token, book the price, write the intent: all or nothing."""
    run.check()
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
    if run.deadline < time.monotonic() + (timeout + answers.MARGIN).total_seconds():
        run.allow(timeout + answers.MARGIN)
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
        answers.end(call, state, readable.message(error), cost=None if billed else Decimal(0))
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


@contextmanager
def using(bought: Bought) -> Iterator[bytes]:
    """Make something of an answer. What turns out to be garbage is not offered again."""
    try:
        with answers.pausing_if(StorageRefused, bought.call.provider):
            yield bought.raw
    except GarbageAnswer as error:
        answers.end(bought.call, State.FAILED, readable.message(error))
        providers.note_fault(bought.call.provider, error)
        raise
