"""The course of a batch: collect, upload, create, poll, fetch, hand out.

Each step is recorded before the next begins. A later run, on any worker, goes on from there.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from django.core.exceptions import ImproperlyConfigured
from django.db.models.functions import Now

from jobs.db import clock, sessions, text
from jobs.errors import (
    BadRequest,
    BatchTooLarge,
    NoBatches,
    NoRoom,
    OperatorsFault,
    PermanentError,
    ProviderUnavailable,
    StorageUnavailable,
)
from jobs.models import Call, Provider, State, Strategy
from jobs.paid import breaker, limits
from jobs.paid.batches import collecting, creating, fetching, handing_out, members, pace, polling
from jobs.paid.clients import services
from jobs.paid.clients.batch import BatchClient, Remote
from jobs.run import Run
from jobs.tracing import logged

if TYPE_CHECKING:
    from jobs.paid.batches.models import Batch

log = logging.getLogger(__name__)

FILE_LASTS = timedelta(days=1)
UNANSWERED = (State.WAITING, State.INTENT)


@logged
def take(batch: "Batch", run: Run) -> None:
    """Go on with the batch until it is done, or until it has to wait: then this raises Snooze."""
    try:
        _take(batch, run)
    except OSError as error:  # a full disk of this machine is no fault of the batch
        raise StorageUnavailable(
            pace.LONGEST, reason=f"No file could be kept on this machine: {error}"
        ) from error


def _take(batch: "Batch", run: Run) -> None:
    if batch.collected_at is None:
        collecting.collect(batch)
    if not batch.remote_id:
        _send(batch, run)
    if not batch.remote_id:  # nothing was left to send
        handing_out.wake(batch)
        return
    client = client_of(batch)
    if batch.ended_at is None:
        remote = polling.poll(batch, run, client)
        if remote.files:
            fetching.fetch(batch, run, client, remote)
        else:
            _end_without_results(batch, run, remote)
    handing_out.hand_out(batch, run, client)


def client_of(batch: "Batch") -> BatchClient:
    try:
        client = services.batch_client(batch.provider)
    except ImproperlyConfigured as error:
        raise OperatorsFault(
            pace.LONGEST, f"{batch.provider} can't be asked from here: {error}"
        ) from None
    if client is None:
        raise NoBatches(reason=f"{batch.provider} has no batches.")
    return client


def _send(batch: "Batch", run: Run) -> None:
    try:
        _submit(batch, run)
    except NoRoom:  # the budget has shrunk since they were collected
        _release(batch)
    except NoBatches as error:
        if batch.create_sent_at is not None:  # it may exist, where we can't look any more
            raise OperatorsFault(pace.LONGEST, str(error)) from None
        _make_at_once(batch, error)
    except BatchTooLarge as error:
        _send_smaller(batch, error)
    except ProviderUnavailable as error:
        breaker.let_wait(error, breaker.note_fault(batch.provider, error))
        if isinstance(error, OperatorsFault):
            error.retry_after = pace.LONGEST
        raise


def _submit(batch: "Batch", run: Run) -> None:
    if not batch.total and batch.create_sent_at is None:
        return
    client = client_of(batch)
    if batch.create_sent_at is not None:
        creating.record(batch, creating.find(batch, run, client))
    elif found := creating.look_first(batch, run, client):
        creating.adopt(batch, run, found)
    else:
        _send_new(batch, run, client)


def _send_new(batch: "Batch", run: Run, client: BatchClient) -> None:
    creating.wait_while_closed(batch)
    creating.refuse_without_time(run)  # before the file is uploaded in vain
    if not (batch.input_file and _is_fresh(batch)):
        creating.upload(batch, run, client)
    if batch.total and not members.are_wanted(batch):
        _release(batch)
    elif batch.total:
        creating.record(batch, creating.create(batch, run, client))


def _is_fresh(batch: "Batch") -> bool:
    """Providers forget uploaded files after days: after a long pause, upload it again."""
    assert batch.collected_at is not None
    return clock.now() - batch.collected_at < FILE_LASTS


def _make_at_once(batch: "Batch", error: NoBatches) -> None:
    """The provider has no batches after all: its calls are made at once, and operators are told.

    When a person sets the strategy again, it is tried again.
    """
    Provider.objects.filter(name=batch.provider).update(
        batch_note=text.message(error), strategy=Strategy.SYNC
    )
    log.warning("%s: no batches, so calls are made at once: %s", batch.provider, error)
    _release(batch)
    members.make_at_once(collecting.waiting(batch.provider))


def _send_smaller(batch: "Batch", error: BatchTooLarge) -> None:
    _send_later(batch, error, most_calls=max(1, batch.total // 2))


def _send_later(batch: "Batch", error: Exception, most_calls: int | None = None) -> None:
    """The provider's fault: pause it, and send the calls again for as long as it takes."""
    breaker.note_fault(batch.provider, error)
    with _releasing(batch, most_calls):
        members.fail_old(members.of(batch).filter(state__in=UNANSWERED), error)


def _release(batch: "Batch") -> None:
    with _releasing(batch):
        pass


@contextmanager
def _releasing(batch: "Batch", most_calls: int | None = None) -> Iterator[None]:
    """The calls wait again; the next batch collects them, a smaller one if need be.

    In one transaction with forgetting the file: its lines now belong to the next batch, so this
    one must never be created.
    """
    members.note_remote(members.of(batch), "")
    with sessions.short_transaction():
        limits.lock(batch.provider)
        yield
        members.note(batch, input_file="")
        members.release(members.of(batch).filter(state__in=UNANSWERED))
        type(batch).objects.collect_soon(batch.provider, most_calls)


def _end_without_results(batch: "Batch", run: Run, remote: Remote) -> None:
    """Nothing was answered. If it is certain that nothing was billed, all goes again."""
    error = remote.error or ProviderUnavailable(reason=f"Its batch ended as {remote.state}.")
    sent = members.of(batch).filter(state=State.INTENT)
    if polling.may_be_billed(remote):
        members.lose(sent, f"Its batch ended as {remote.state}, but without results.")
    elif isinstance(error, BatchTooLarge):
        _send_smaller(batch, error)
    elif isinstance(error, BadRequest):
        _blame(batch, remote.bad_line, error)
    elif isinstance(error, ProviderUnavailable) and "fail" in remote.state.lower():
        _send_later(batch, error)
    else:
        _send_again(batch, run, error)
    members.note(batch, ended_at=Now())


def _blame(batch: "Batch", line: int | None, error: Exception) -> None:
    """A line failed the whole batch: its call gets the error, the others go again.

    If the provider does not say which line, smaller batches find it. In one transaction: the
    next run would count the lines without it, and blame another.
    """
    sent = members.of(batch).filter(state=State.INTENT).order_by("pk")
    number = sent.count()
    line = 1 if number == 1 else line or 0
    is_named = 1 <= line <= number
    with _releasing(batch, None if is_named or not number else max(1, number // 2)):
        if is_named:
            guilty = sent.values_list("pk", flat=True)[line - 1]
            members.fail(Call.objects.filter(pk=guilty), error)


def _send_again(batch: "Batch", run: Run, error: Exception) -> None:
    for chunk in members.in_chunks(members.of(batch).filter(state=State.INTENT)):
        run.allow(handing_out.CHUNK_MINUTES)
        for call in chunk:
            members.again(call, error)


@logged
def give_up(batch: "Batch", error: BaseException) -> None:
    """The batch has failed. Calls that were not sent get its error.

    Calls that were sent stay as they are: a person can requeue the batch, which goes on. Calls
    that it has not even collected are left to another batch, later.
    """
    if type(batch).objects.filter(pk=batch.pk, collected_at=None).update(collected_at=Now()):
        type(batch).objects.collect_soon(batch.provider, after=pace.LONGEST)
    unsent = members.of(batch).filter(state=State.WAITING)
    calls = list(unsent.defer("request"))
    members.fail(unsent, PermanentError(f"Its batch failed: {text.message(error)}"))
    members.wake(calls)
    # Requeued, it has nothing left to send: its lines belong to the jobs that were told.
    nothing_sent = type(batch).objects.filter(pk=batch.pk, create_sent_at=None, remote_id="")
    nothing_sent.update(input_file="", total=0)
