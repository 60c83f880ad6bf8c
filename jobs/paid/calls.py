"""Paid calls: `buy` is the only way to spend money.

The intent is recorded before the request is sent (`ledger`), and the answer is stored before
it is used (`answers`). The next run of the job starts from the stored answer. A call is repeated
only if its outcome is unknown, and such calls are counted.
"""

import hashlib
import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from django.db import Error

from jobs import spans
from jobs.db import sessions, text
from jobs.errors import (
    AnswerLost,
    GarbageAnswer,
    NoRoom,
    PermanentError,
    ProviderUnavailable,
    StorageRefused,
    TooLate,
)
from jobs.models import Job, State
from jobs.paid import answers, breaker, ledger, limits
from jobs.paid.answers import Bought
from jobs.paid.batches import joining
from jobs.paid.clients import Answer, may_send
from jobs.paid.ledger import NO_TOKENS, Intent, Tokens
from jobs.run import Run

log = logging.getLogger(__name__)

Send = Callable[[float], Answer]  # receives its timeout in seconds

# After these no answer can follow. After any other error the request may have been accepted.
KNOWN = (GarbageAnswer, PermanentError, ProviderUnavailable)


def buy(
    run: Run,
    payload_hash: str,
    send: Send,
    *,
    request: dict[str, Any] | None = None,
    most_tokens: Tokens = NO_TOKENS,
    strategy: str = "",
) -> Bought:
    """The answer to this request: the stored one, or else a new one from a single call.

    With a `request` the call may be made in a batch, if the provider's row or the job's own
    `strategy` says so: then this raises InBatch, and the batch wakes the job.
    """
    provider = type(run.job).provider_name()
    assert provider, f"{run.job} makes a paid call, but its provider_name() is None."
    key = key_of(run.job, payload_hash)
    with run.step("store"), breaker.pausing_on(StorageRefused, provider):
        known = answers.recover(key) or answers.adopt(run, provider, key, payload_hash)
    if known:
        return known
    if request is not None:
        request = {**request, "most_tokens": list(most_tokens)}
        joining.join(run, provider, key, payload_hash, request, strategy)
    intent = _begin(run, provider, key, payload_hash, most_tokens)
    try:
        answer = _ask(intent, send)
        with run.step("store"):
            return answers.keep(run, intent.call, answer)
    finally:
        run.is_paying = False


def key_of(job: Job, payload_hash: str) -> str:
    """The name of the purchase. It can't be guessed, because the job's id can't."""
    return hashlib.sha256(f"{job.id} {payload_hash}".encode()).hexdigest()


def _begin(run: Run, name: str, key: str, payload_hash: str, most_tokens: Tokens) -> Intent:
    """Record the intent of a call; if the next token comes within moments, wait for it."""
    give_up_at = time.monotonic() + 2 * limits.AHEAD.total_seconds()
    while True:
        try:
            return ledger.begin(run, name, key, payload_hash, most_tokens)
        except NoRoom as full:
            if full.short_of is not None:
                limits.note_short(name, full.short_of)
            if full.wait is None or time.monotonic() + full.wait > give_up_at:
                raise
            with run.step("wait"):
                time.sleep(full.wait + random.uniform(0, 0.05))


def _ask(intent: Intent, send: Send) -> Answer:
    """Send the request unless it is too late; the clients check again just before sending."""
    before = may_send.set(intent.check)
    try:
        with intent.run.step("generate"), spans.call(intent.call.provider) as span:
            log.debug("%s: asking", intent.call)
            intent.check()
            answer = send(intent.timeout)
            span.note(
                {
                    "gen_ai.response.id": answer.remote_id,
                    "gen_ai.usage.input_tokens": answer.input_tokens,
                    "gen_ai.usage.output_tokens": answer.output_tokens,
                }
            )
            return answer
    except BaseException as error:
        _note(intent, error)
        raise
    finally:
        may_send.reset(before)


def _note(intent: Intent, error: BaseException) -> None:
    """Record the end of a call without an answer, its cost, and its provider's fault."""
    call = intent.call
    billed = getattr(error, "billed", True)
    is_known = isinstance(error, KNOWN) and not isinstance(error, AnswerLost)
    state = State.FAILED if is_known or not billed else State.UNKNOWN

    def record() -> None:
        if isinstance(error, TooLate):
            intent.withdraw(text.message(error))
            return
        ledger.end(call, state, text.message(error), cost=None if billed else Decimal(0))
        if isinstance(error, PermanentError):
            breaker.note_answer(call.provider)
        elif isinstance(error, ProviderUnavailable | GarbageAnswer):
            breaker.let_wait(error, breaker.note_fault(call.provider, error))

    try:
        intent.run.insist(record, time.monotonic() + ledger.RECORD_FOR.total_seconds(), Error)
    except Error as fault:  # the intent stays: the next run marks the call as unknown
        log.error("%s could not be recorded: %s", call, fault)
        return
    if state == State.UNKNOWN:
        ledger.refuse_after_too_many(call.key)


@contextmanager
def using(bought: Bought) -> Iterator[bytes]:
    """Use an answer. If it turns out to be garbage, later runs do not get it again."""
    sessions.give_back()
    try:
        with breaker.pausing_on(StorageRefused, bought.call.provider):
            yield bought.raw
    except GarbageAnswer as error:
        ledger.end(bought.call, State.FAILED, text.message(error))
        breaker.note_fault(bought.call.provider, error, before=bought.faults)
        raise
