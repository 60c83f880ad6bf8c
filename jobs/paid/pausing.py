"""Pausing and resuming a provider, by operators; its own faults pause it in `breaker`."""

import logging
from collections.abc import Iterator
from datetime import datetime

from django.db.models import F
from django.db.models.functions import Greatest, Least, Now

from jobs.db import sessions, text
from jobs.models import JobQuerySet, Provider, Status, job_models
from jobs.paid import limits

log = logging.getLogger(__name__)


def pause(name: str, reason: str, until: datetime | None = None, by: object = "a program") -> bool:
    """Start no call until the given end, or until a person resumes it; running calls go on.

    Returns False and changes nothing if the current pause is longer: only `resume` shortens it.
    """
    with sessions.short_transaction():
        provider = limits.lock(name)
        end = provider.paused_until
        if until and (provider.paused or (end and end > until)):
            log.info("%s stays paused until %s, which %s left", name, end or "resumed", by)
            return False
        Provider.objects.filter(name=name).update(
            paused=until is None, paused_until=until, pause_reason=text.clean(reason)
        )
        if until:  # after a pause without an end, resume() does this
            for jobs in _kept_waiting(name):
                jobs.update(unavailable_since=Greatest(F("unavailable_since"), until))
    log.info("%s paused by %s until %s: %s", name, by, until or "resumed", reason)
    return True


def resume(name: str, by: object = "a program") -> None:
    """Open it again. Jobs that met its faults may start at once: a person has fixed the cause.

    The count of faults is kept: one call must succeed before many start.
    """
    with sessions.short_transaction():
        Provider.objects.filter(name=name).update(paused=False, paused_until=None, pause_reason="")
        for jobs in _kept_waiting(name):
            jobs.update(run_after=Least(F("run_after"), Now()), unavailable_since=None)
    log.info("%s resumed by %s", name, by)


def _kept_waiting(name: str) -> Iterator[JobQuerySet]:
    """The jobs that wait because of the provider's faults, locked in the order of their ids.

    Their patience counts the provider's outage only, not the time of an operator's pause.
    """
    for model in job_models():
        ours = model.objects.of_provider(name)
        waiting = ours.filter(status=Status.QUEUED, unavailable_since__isnull=False)
        locked = waiting.order_by("id").select_for_update(skip_locked=True)
        if ids := list(locked.values_list("id", flat=True)):
            yield model.objects.with_ids(ids)
