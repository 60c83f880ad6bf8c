"""Faults in a row pause a provider for every worker; an answer resets the count."""

import logging
import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from django.db import Error

from jobs.db import clock, sessions, text
from jobs.errors import AnswerLost, OperatorsFault, ProviderUnavailable
from jobs.models import Provider
from jobs.models.provider import BREAKER_FAULTS
from jobs.paid import limits

log = logging.getLogger(__name__)

Caught = type[Exception] | tuple[type[Exception], ...]

SHORTEST_PAUSE, LONGEST_PAUSE = timedelta(seconds=5), timedelta(minutes=5)


def note_answer(name: str) -> int:
    """The provider answered: reset its faults; returns how many in a row there had been."""
    faulty = Provider.objects.filter(name=name, faults__gt=0)
    faults = faulty.values_list("faults", flat=True).first() or 0
    faulty.update(faults=0)
    return faults


def note_fault(name: str, error: BaseException, before: int = 0) -> timedelta | None:
    """Count a fault, and pause the provider for all workers if needed; returns the pause.

    `before` faults in a row were reset by an answer that has turned out to be the fault.
    """
    pause = None
    with sessions.short_transaction():
        provider = limits.lock(name)
        is_new = not provider.is_paused  # a fault during a pause belongs to the one that set it
        provider.faults = max(provider.faults, before) + is_new
        if isinstance(error, OperatorsFault):
            if not provider.paused:  # keep a person's own reason
                provider.paused, provider.pause_reason = True, text.message(error)
        elif pause := pause_after(error, provider.faults):
            extend_pause(provider, pause, text.message(error))
        provider.save(update_fields=["faults", "paused", "paused_until", "pause_reason"])
    log.log(logging.WARNING if is_new else logging.DEBUG, "%s: %s", name, error)
    return pause


def let_wait(error: BaseException, pause: timedelta | None) -> None:
    """Let the job that met the fault wait as long as its provider is paused."""
    if pause and isinstance(error, ProviderUnavailable):
        error.retry_after = pause.total_seconds()


def pause_after(error: BaseException, faults: int) -> timedelta | None:
    """As long as the provider asked for, or growing with jitter; None: no pause yet."""
    told = getattr(error, "retry_after", None)
    is_waited_for = isinstance(error, ProviderUnavailable) and not isinstance(error, AnswerLost)
    if faults >= BREAKER_FAULTS or (is_waited_for and told is None):
        pause = max(_growing(faults), clock.bounded(told))
    elif told is not None:
        pause = clock.bounded(told, shortest=1.0)
    else:
        return None
    return min(pause, timedelta(days=1))


def _growing(faults: int) -> timedelta:
    longest: timedelta = min(SHORTEST_PAUSE * 2 ** min(faults - 1, 10), LONGEST_PAUSE)
    return longest * random.uniform(0.5, 1)


def extend_pause(provider: Provider, pause: timedelta, reason: str) -> None:
    """Never shorten a pause: an operator may have set it for a reason."""
    until = provider.now + pause
    if provider.paused_until is None or until > provider.paused_until:
        provider.paused_until = until
        if not provider.paused:
            provider.pause_reason = reason


@contextmanager
def pausing_on(faults: Caught, name: str) -> Iterator[None]:
    """Pause the provider on these faults: without a storage, no answer can be kept."""
    try:
        yield
    except faults as error:
        with suppress(Error):  # the database is down too, and without it no call can start
            let_wait(error, note_fault(name, error))
        raise
