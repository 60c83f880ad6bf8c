"""Answers that were paid for: kept as soon as they arrive, and found again after a crash."""

import hashlib
import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import Error, connection
from django.db.models.functions import Now

from jobs import database, providers, readable, storage
from jobs.clients import Answer
from jobs.errors import AnswerLost, Snooze, StorageRefused, StorageUnavailable
from jobs.models import Call, State, Worker
from jobs.run import Run

log = logging.getLogger(__name__)

MARGIN = timedelta(seconds=30)  # that a run has beyond the deadline of its call
STORAGE_FAULTS = (StorageRefused, StorageUnavailable)


@dataclass(frozen=True)
class Bought:
    """An answer that is stored, and the call that brought it."""

    raw: bytes
    call: Call


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
            end(call, State.FAILED, "The stored answer is gone, or is not the same any more.")
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
    end(call, State.UNKNOWN, f"{call.worker} vanished before the answer was stored.")


# Keep


def keep(run: Run, call: Call, answer: Answer) -> None:
    """Store an answer that is in our hands, however long that takes, and say that it is."""
    patience = timedelta(seconds=settings.KEEP_ANSWER_SECONDS)
    run.holds_answer = True
    run.allow(patience + MARGIN)
    try:
        _insist(run, patience, lambda: _put(call, answer.raw))
        _insist(run, patience, lambda: _mark_stored(call, answer))
    except STORAGE_FAULTS as error:
        end(call, State.UNKNOWN, f"It was answered, but that could not be stored: {error}")
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
        except (*STORAGE_FAULTS, Error) as error:
            connection.close()
            if run.is_lost or time.monotonic() + pause > give_up_at:
                raise
            log.warning("The answer for %s is not kept yet: %s", run.job, error)
        time.sleep(pause * random.uniform(0.5, 1))
        pause = min(2 * pause, 10.0)


@contextmanager
def pausing_if(
    fault: type[Exception] | tuple[type[Exception], ...], provider: str
) -> Iterator[None]:
    """Buy nothing more while there is no place to keep it."""
    try:
        yield
    except fault as error:
        with suppress(Error):  # the database is away too, and nobody buys without it
            providers.note_fault(provider, error)
        raise


def _put(call: Call, raw: bytes) -> None:
    with pausing_if(STORAGE_FAULTS, call.provider):
        storage.named("answers").put(call.answer_name, raw)


def _mark_stored(call: Call, answer: Answer) -> None:
    told: dict[str, Any] = {
        "answer_hash": _hash(answer.raw),
        "answer_size": len(answer.raw),
        "remote_id": readable.clean(answer.remote_id, 200),
    }
    with database.short_transaction():
        providers.note_answer(call.provider)
        end(call, State.STORED, cost=answer.cost, **told)


def _hash(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


# How a call ends. Not guarded by the job's epoch: money spent by a worker that has lost its
# claim is spent all the same, and its answer is as good as any.

ENDS_FROM = {
    State.STORED: (State.INTENT, State.UNKNOWN),
    State.UNKNOWN: (State.INTENT,),
    State.FAILED: (State.INTENT, State.UNKNOWN, State.STORED),
}


def end(
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
