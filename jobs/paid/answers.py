"""Paid answers: stored as soon as they arrive, and found again after a crash."""

import hashlib
import logging
import time
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.db import Error

from jobs import settings, storage
from jobs.db import sessions, text
from jobs.errors import AnswerGone, AnswerLost, Snooze, StorageRefused, StorageUnavailable
from jobs.models import Call, Provider, State, Worker
from jobs.paid import breaker, ledger
from jobs.paid.clients import Answer
from jobs.run import Run

log = logging.getLogger(__name__)

MOST_COST = Decimal(10) ** 6
STORAGE_FAULTS = (StorageRefused, StorageUnavailable)


@dataclass(frozen=True)
class Bought:
    """A stored answer and its call."""

    raw: bytes
    call: Call
    faults: int = 0  # of its provider, in a row, until this answer came


# Answers of earlier runs


def recover(key: str) -> Bought | None:
    """The stored answer, if there is one. Open calls whose worker is gone become unknown.

    Calls in a batch have no worker: the batch ends them. An answer that has expired is as if it
    had never been bought: retention is deleting its file.
    """
    calls = Call.objects.filter(key=key, answer_expired=False)
    calls = calls.exclude(state__in=[State.FAILED, State.WAITING])
    for call in calls.order_by("number"):
        if call.is_in_batch:
            continue
        raw = _read(call.answer_name)
        if raw is not None and call.answer_hash in ("", _hash(raw)):
            if call.state != State.STORED:
                mark_stored(call, Answer(raw=raw))
            return Bought(raw, call)
        if call.state == State.STORED:
            _give_up(call)
        elif call.state == State.INTENT:
            _write_off(call)
    return None


def adopt(run: Run, provider: str, key: str, payload_hash: str) -> Bought | None:
    """The answer under the next name, if the file exists although no row mentions it.

    A failover or a restore can lose rows but not files, so a paid answer is not bought again.
    """
    number = ledger.next_number(key)
    raw = _read(ledger.name_of(key, number))
    if raw is None:
        return None
    call = ledger.adopt(run, provider, key, number, payload_hash)
    log.warning("%s was stored, but not on record: it is used, and booked again.", call)
    mark_stored(call, Answer(raw=raw))
    return Bought(raw, call)


def _read(name: str) -> bytes | None:
    sessions.give_back()  # the storage may be slow
    try:
        return storage.named("answers").read(name)
    except FileNotFoundError:
        return None


def _give_up(call: Call) -> None:
    """Only a person may give it up: perhaps the storage is just not mounted."""
    if not call.excused:
        raise AnswerGone(
            f"The stored answer {call.answer_name} is gone, or not the same any more. Look whether"
            " the answers' storage is the right one, then requeue the job: if the answer is still"
            " not there, it is bought again."
        )
    ledger.end(call, State.FAILED, "The stored answer is gone, or not the same any more.")


def _write_off(call: Call) -> None:
    """Mark a call as unknown; raise Snooze if its live worker may still store the answer."""
    under_way = Call.objects.under_way().filter(pk=call.pk)
    alive = Worker.objects.alive().filter(name=call.worker)
    if under_way.exists() and alive.exists():
        raise Snooze(5, f"An earlier call of {call.provider} for this job is still under way.")
    ledger.end(call, State.UNKNOWN, f"{call.worker} vanished before the answer was stored.")


# Keep


def keep(run: Run, call: Call, answer: Answer) -> Bought:
    """Store an answer that has arrived, repeating on faults, and record that it is stored."""
    run.has_answer = True
    give_up_at = time.monotonic() + settings.KEEP_ANSWER_SECONDS
    try:
        raw = run.insist(lambda: put(call, answer.raw), give_up_at, *STORAGE_FAULTS)
    except STORAGE_FAULTS as error:
        ledger.end(call, State.UNKNOWN, f"The answer arrived but could not be stored: {error}")
        raise AnswerLost(reason=f"The answer could not be stored: {error}") from error
    faults = 0
    try:
        answer = replace(answer, raw=raw)
        run.insist(lambda: mark_stored(call, answer), give_up_at, Error)
        faults = breaker.note_answer(call.provider)
    except Error as error:  # the answer is stored: the next run finds it through the intent
        log.error("%s is stored, but that could not be recorded: %s", call, error)
    run.allow(run.job.time_limit)
    return Bought(raw, call, faults)


def put(call: Call, raw: bytes) -> bytes:
    """Store it; returns the content that now has this name.

    That can be an earlier answer to the same request whose row was lost meanwhile.
    """
    with breaker.pausing_on(STORAGE_FAULTS, call.provider):
        storage.named("answers").put(call.answer_name, raw)
        stored = _read(call.answer_name)
        if stored is None:
            raise StorageUnavailable(reason=f"Stored, but not there: {call.answer_name}")
    return stored


def mark_stored(call: Call, answer: Answer) -> None:
    told: dict[str, Any] = {
        "answer_hash": _hash(answer.raw),
        "answer_size": len(answer.raw),
    }
    if answer.remote_id:
        told["remote_id"] = text.clean(answer.remote_id, 200)
    ledger.end(call, State.STORED, cost=_cost(call, answer), request=None, **told)


def _cost(call: Call, answer: Answer) -> Decimal | None:
    """What the service says, or what its count of tokens costs; None keeps what is booked."""
    if answer.cost is not None or answer.input_tokens is None or answer.output_tokens is None:
        return _sane(answer.cost)
    provider = Provider.objects.filter(name=call.provider).first()
    if provider is None or not (provider.input_price or provider.output_price):
        return None
    in_batch = call.batch_id is not None
    return _sane(provider.cost(answer.input_tokens, answer.output_tokens, batch=in_batch))


def _sane(cost: Decimal | None) -> Decimal | None:
    """The cost if its column can hold it; None keeps the provider's price."""
    is_sane = cost is not None and cost.is_finite() and 0 <= cost < MOST_COST
    return cost if is_sane else None


def _hash(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
