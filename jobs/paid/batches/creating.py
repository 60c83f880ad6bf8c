"""Sending a batch: upload its file, record the intent, create it once, find it if that was lost."""

import json
import logging
import tempfile
import time
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from django.db import Error
from django.db.models.functions import Now

from jobs import spans
from jobs.db import sessions
from jobs.errors import AnswerLost, BadRequest, NoRoom, Snooze
from jobs.models import Call, Provider, State
from jobs.paid import ledger, limits
from jobs.paid.batches import members, pace
from jobs.paid.clients import may_send, services
from jobs.paid.clients.batch import BatchClient, Remote
from jobs.run import Run
from jobs.tracing import logged

if TYPE_CHECKING:
    from jobs.paid.batches.models import Batch

log = logging.getLogger(__name__)

CLOCKS_DIFFER = timedelta(minutes=10)  # by no more than this
UPLOAD_SECONDS, CREATE_SECONDS, LIST_SECONDS = 300.0, 120.0, 60.0


# Upload: costs nothing, so it may be repeated


@logged
def upload(batch: "Batch", run: Run, client: BatchClient) -> None:
    _, model = services.split(batch.provider)
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder, "requests.jsonl")
        total = _write(batch, client, model, lines)
        if total:
            with run.step("upload"):
                run.allow(timedelta(seconds=UPLOAD_SECONDS) + ledger.MARGIN)
                file = client.upload(lines, batch.token, UPLOAD_SECONDS)
            members.note(batch, input_file=file)
    members.note(batch, total=total)


def _write(batch: "Batch", client: BatchClient, model: str, path: Path) -> int:
    """Write the file, one line per member, in the order of their ids; returns how many."""
    number = 0
    with path.open("w", encoding="utf-8") as file:
        for chunk in members.in_chunks(members.of(batch).filter(state=State.WAITING)):
            sessions.give_back()
            for call in chunk:
                try:
                    line = client.line(model, call.key, call.request or {})
                except BadRequest as error:  # its own fault: the others go on
                    members.fail(Call.objects.filter(pk=call.pk), error)
                    members.wake([call])
                    continue
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                number += 1
    return number


# Create: once for a token, whatever happens


@logged
def create(batch: "Batch", run: Run, client: BatchClient) -> Remote:
    """Record the intent, book the price of all members, and send the only request that costs."""
    _begin(batch, run)
    try:
        return _create(batch, run, client)
    except AnswerLost:
        return find(batch, run, client)
    except Exception as error:
        if getattr(error, "billed", True):
            raise  # whether it exists is not known: the next run looks for it
        _withdraw(batch, run, error)
        raise


def _create(batch: "Batch", run: Run, client: BatchClient) -> Remote:
    """Send it soon after its intent and while the claim holds, or never.

    Counted from the end of the intent: booking thousands of calls takes its time.
    """
    send_by = time.monotonic() + ledger.SEND_WITHIN.total_seconds()
    before = may_send.set(partial(ledger.refuse_if_late, run, send_by))
    try:
        links = members.traces(batch) if spans.tracer() else []
        with run.step("create"), spans.call(batch.provider, links):
            ledger.refuse_if_late(run, send_by)
            run.allow(timedelta(seconds=CREATE_SECONDS) + ledger.MARGIN)
            _, model = services.split(batch.provider)
            return client.create(model, batch.form, batch.input_file, batch.token, CREATE_SECONDS)
    finally:
        may_send.reset(before)


def wait_while_closed(batch: "Batch") -> None:
    """Raise Snooze while the provider is paused: the file would only be uploaded in vain."""
    try:
        limits.refuse_if_closed(limits.find(batch.provider))
    except NoRoom as closed:
        raise Snooze(pace.closed(batch), str(closed)) from None


def refuse_without_time(run: Run) -> None:
    limits.refuse_without_time(CREATE_SECONDS, run.time_left, wait=run.time_left)


def _begin(batch: "Batch", run: Run) -> None:
    run.check()
    refuse_without_time(run)
    try:
        with sessions.short_transaction():
            provider = limits.lock(batch.provider)
            ledger.confirm(run)
            limits.refuse_if_closed(provider)
            booked = members.book(batch, provider)
            if provider.left_today is not None and booked > provider.left_today:
                left = provider.left_today
                why = f"The batch may cost {booked:f}, and {left:f} is left today."
                raise NoRoom(why, short_of=booked)
            _charge(batch, provider, booked)
    except NoRoom as closed:
        if closed.short_of is not None:
            raise
        raise Snooze(pace.closed(batch), str(closed)) from None
    except Error as error:  # the commit may have succeeded although its reply was lost
        _withdraw(batch, run, error)
        raise


def _charge(batch: "Batch", provider: Provider, booked: Decimal) -> None:
    limits.charge(provider, booked)
    members.note(batch, create_sent_at=provider.now, booked=booked)


def _withdraw(batch: "Batch", run: Run, error: Exception) -> None:
    """It was certainly not created: give the price back, and let it be created later.

    Not guarded by the claim: another worker that has it by now must not look for it in vain.
    Guarded by the intent: another worker may have begun to create it meanwhile.
    """
    sent_at = batch.create_sent_at

    def write() -> None:
        with sessions.short_transaction():
            limits.lock(batch.provider)
            mine = type(batch).objects.filter(pk=batch.pk, remote_id="", create_sent_at=sent_at)
            if mine.update(create_sent_at=None, booked=0):
                unbooked = members.of(batch).filter(state=State.INTENT)
                members.unbook(unbooked, state=State.WAITING, booked_on=None)
        batch.create_sent_at = None

    run.insist(write, time.monotonic() + ledger.RECORD_FOR.total_seconds(), Error)
    log.warning("%s was not created: %s", batch, error)


# Find: the reply of `create` was lost, or its whole record


def look_first(batch: "Batch", run: Run, client: BatchClient) -> Remote | None:
    """The batch, if an earlier run created it and a failover has lost the record of that.

    At the first claim too: the failover may have lost the claim of that run.
    """
    found = _listed(batch, run, client)
    return found[0] if found else None


def adopt(batch: "Batch", run: Run, remote: Remote) -> None:
    """Book what was bought, whatever is left of the budget: the money is spent."""
    with sessions.short_transaction():
        provider = limits.lock(batch.provider)
        ledger.confirm(run)
        _charge(batch, provider, members.book(batch, provider))
    record(batch, remote)


@logged
def find(batch: "Batch", run: Run, client: BatchClient) -> Remote:
    """The batch in the provider's list: looked for at once, after 1 and after 5 minutes."""
    if found := _listed(batch, run, client):
        return found[0]
    assert batch.create_sent_at is not None
    pace.look_again(batch.create_sent_at, "Its creation was not confirmed.")
    raise members.lost(
        batch,
        f"Whether the batch {batch.token} was created at {batch.provider} is not known. Look for"
        " this token in the provider's own list; if it is there, requeue the batch.",
    )


def _listed(batch: "Batch", run: Run, client: BatchClient) -> list[Remote]:
    """The batches with its token; all but the oldest are canceled."""
    since = batch.created_at - CLOCKS_DIFFER
    with run.step("find"):
        run.allow(timedelta(seconds=LIST_SECONDS) + ledger.MARGIN)
        found = client.find(batch.token, since, LIST_SECONDS)
        for twin in found[1:]:
            log.error("%s exists twice: %s is canceled", batch, twin.id)
            client.cancel(twin.id, LIST_SECONDS)
    return found


@logged
def record(batch: "Batch", remote: Remote) -> None:
    """It exists: from now on it is polled by its id."""
    members.note(batch, remote_id=remote.id, submitted_at=Now(), state=remote.state)
    members.note_remote(members.of(batch), remote.id)
