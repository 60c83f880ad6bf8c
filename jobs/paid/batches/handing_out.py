"""Turning each line of a batch's results into a stored call, and waking its job.

Repeatable: a line whose call has ended is passed over.
"""

import logging
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from jobs.db import sessions
from jobs.errors import OperatorsFault, ProviderUnavailable, Snooze
from jobs.models import Call, State
from jobs.paid import answers, breaker, limits
from jobs.paid.batches import fetching, members, pace
from jobs.paid.batches.collecting import waiting
from jobs.paid.clients import services
from jobs.paid.clients.batch import BatchClient, Result
from jobs.run import Run
from jobs.tracing import logged

if TYPE_CHECKING:
    from jobs.paid.batches.models import Batch

log = logging.getLogger(__name__)

CHUNK = 100
CHUNK_BYTES = 16 * 1024 * 1024  # of answers: pictures can be megabytes each
CHUNK_MINUTES = timedelta(minutes=5)  # if the storage is slow


@logged
def hand_out(batch: "Batch", run: Run, client: BatchClient) -> int:
    """End all calls of the batch and wake their jobs; returns how many have an answer."""
    with run.step("hand out"):
        for chunk in _chunks(_results(batch, client)):
            run.check()
            run.allow(CHUNK_MINUTES)
            _hand_out(batch, chunk)
        _end_missing(batch, run)
    wake(batch)
    if waiting(batch.provider).exists():
        type(batch).objects.collect_soon(batch.provider)
    stored = members.of(batch).filter(state=State.STORED).count()
    failed = members.told(batch).filter(state=State.FAILED).count()
    members.note(batch, done=stored, failed=failed)
    return stored


def _results(batch: "Batch", client: BatchClient) -> Iterator[Result]:
    _, model = services.split(batch.provider)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "piece.jsonl")
        for piece in fetching.stored(batch):
            path.write_bytes(piece)
            yield from client.results(model, batch.form, path)


def _chunks(results: Iterator[Result]) -> Iterator[list[Result]]:
    chunk: list[Result] = []
    size = 0
    for result in results:
        chunk.append(result)
        size += len(result.answer.raw) if result.answer else 0
        if len(chunk) == CHUNK or size > CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _hand_out(batch: "Batch", results: list[Result]) -> None:
    """Store the answers, then end all calls of the chunk in one transaction, then wake the jobs."""
    told = {result.key: result for result in reversed(results)}  # of two lines the first counts
    sent = members.of(batch).filter(members.EXPECTED, key__in=list(told))
    pairs = [(call, _stored(call, told[call.key])) for call in sent.defer("request")]
    with sessions.short_transaction():
        limits.lock(batch.provider)
        for call, result in pairs:
            _end(call, result)
    ended = [result for _, result in pairs]
    if any(result.answer for result in ended):
        breaker.note_answer(batch.provider)
    _note_fault(batch.provider, ended)
    members.wake(list(members.told(batch).filter(key__in=list(told)).defer("request")))


def _stored(call: Call, result: Result) -> Result:
    """The result with the answer that is stored now under the name of its call."""
    if result.answer is None:
        return result
    raw = answers.put(call, result.answer.raw)
    return replace(result, answer=replace(result.answer, raw=raw))


def _note_fault(provider: str, results: list[Result]) -> None:
    """A fault of the account pauses the provider, as it does for a single call; so do lines that
    all say that the provider is at fault."""
    errors = [result.error for result in results if result.error]
    faults = [error for error in errors if isinstance(error, ProviderUnavailable)]
    for error in faults:
        if isinstance(error, OperatorsFault) or len(faults) == len(results):
            breaker.note_fault(provider, error)
            break


def _end(call: Call, result: Result) -> None:
    if result.answer is not None:
        if call.state == State.FAILED:  # its price was given back
            call.cost = limits.find(call.provider).cost(batch=True)
        answers.mark_stored(call, result.answer)
        return
    error = result.error or ProviderUnavailable(reason="Its line has neither answer nor error.")
    if isinstance(error, OperatorsFault) and not error.billed:  # when a person has mended it
        members.release(Call.objects.same(call).filter(state=State.INTENT))
    elif isinstance(error, ProviderUnavailable) and not error.billed:
        members.again(call, error)
    else:
        members.fail(Call.objects.same(call).filter(state__in=members.SENT), error)


def _end_missing(batch: "Batch", run: Run) -> None:
    """Lines that the results lack. A batch that was cut short has not billed them."""
    missing = members.of(batch).filter(state=State.INTENT)
    was_cut = any(word in batch.state.lower() for word in ("cancel", "expire"))
    for chunk in members.in_chunks(missing):
        run.allow(CHUNK_MINUTES)
        if not was_cut:
            log.error("%s has no line for %d of its calls", batch, len(chunk))
            same = Call.objects.filter(pk__in=[call.pk for call in chunk])
            members.lose(same, "The results of its batch have no line for it.")
            continue
        for call in chunk:
            members.again(call, ProviderUnavailable(reason=f"Its batch ended as {batch.state}."))


def wake(batch: "Batch") -> None:
    """Wake all jobs. One whose run has not settled yet would sleep on: come back for it."""
    members.note_remote(members.of(batch).exclude(pk__in=members.told(batch)), "")
    are_awake = [members.wake(chunk) for chunk in members.in_chunks(members.told(batch))]
    if not all(are_awake):
        raise Snooze(pace.SETTLING, "A job of it has not settled yet.")
