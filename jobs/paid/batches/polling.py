"""Asking how far a batch is. Between two polls it is a queued job, without a slot."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import F
from django.db.models.functions import Now

from jobs.db import clock, text
from jobs.errors import BatchGone, OperatorsFault, ProviderUnavailable, Snooze
from jobs.paid import breaker, ledger
from jobs.paid.batches import members, pace
from jobs.paid.clients.batch import BatchClient, Remote
from jobs.run import Run
from jobs.tracing import logged

if TYPE_CHECKING:
    from jobs.paid.batches.models import Batch

log = logging.getLogger(__name__)

POLL_SECONDS = 60.0


@logged
def poll(batch: "Batch", run: Run, client: BatchClient) -> Remote:
    """The batch, if it has ended at the provider; else this raises Snooze until the next poll."""
    remote = _look(batch, run, client)
    members.note(
        batch,
        state=text.clean(remote.state, 100),
        done=remote.done,
        failed=remote.failed,
        polls=F("polls") + 1,
    )
    _give_up_if_old(batch, remote)
    if remote.has_ended:
        if not remote.files and may_be_billed(remote):
            _look_again(batch, remote)
        return remote
    raise Snooze(pace.poll(batch.polls - 1), f"{remote.state}: {remote.done} of {batch.total}")


def _give_up_if_old(batch: "Batch", remote: Remote) -> None:
    assert batch.submitted_at is not None
    if not remote.has_ended and clock.now() - batch.submitted_at > members.EXPECTED_WITHIN:
        days = members.EXPECTED_WITHIN.days
        raise members.lost(batch, f"After {days} days the provider still says: {remote.state}.")


def may_be_billed(remote: Remote) -> bool:
    """Whether lines of a batch without results may have been answered all the same."""
    failed = any(word in remote.state.lower() for word in ("fail", "cancel", "expire"))
    return remote.done > 0 or not failed


def _look_again(batch: "Batch", remote: Remote) -> None:
    """Perhaps its results come a little later: look after 1 and after 5 minutes."""
    if batch.missed_since is None:
        members.note(batch, missed_since=Now())
    assert batch.missed_since is not None
    pace.look_again(batch.missed_since, f"{remote.state}, but without results.")


def _look(batch: "Batch", run: Run, client: BatchClient) -> Remote:
    with run.step("poll"), asking(batch):
        run.allow(timedelta(seconds=2 * POLL_SECONDS) + ledger.MARGIN)
        if batch.cancel_asked:
            _cancel(batch, client)
        return client.look(batch.remote_id, POLL_SECONDS)


@contextmanager
def asking(batch: "Batch") -> Iterator[None]:
    """Ask about a batch that exists; a fault decides how long it waits before it asks again."""
    try:
        yield
    except BatchGone as error:
        if batch.cancel_asked:  # a person has looked, and gives it up
            raise members.lost(batch, f"It was given up: {error}") from None
        breaker.note_fault(batch.provider, error)  # pauses it until a person has looked
        error.retry_after = pace.LONGEST
        raise
    except OperatorsFault as error:
        error.retry_after = pace.LONGEST
        raise
    except ProviderUnavailable as error:  # polling goes on, and creating is not held up by it
        error.retry_after = max(error.retry_after or 0, pace.poll(batch.polls))
        raise


def _cancel(batch: "Batch", client: BatchClient) -> None:
    """Ask the provider to stop. Repeated until it has ended: a request may get lost."""
    try:
        client.cancel(batch.remote_id, POLL_SECONDS)
    except BatchGone:
        raise
    except Exception as error:  # it may have ended just now
        log.warning("%s could not be canceled: %s", batch, error)
