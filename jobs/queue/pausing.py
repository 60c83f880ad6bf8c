"""Pausing and resuming a kind of job, by operators; `jobs.paid.pausing` does so for a provider.

No job of a paused kind is due, so no worker claims one. Running jobs go on, and the jobs of a
worker that died are still rescued: then they wait like the others.
"""

import logging
from datetime import datetime
from typing import Any

from django.db.models import F
from django.db.models.functions import Greatest, Now

from jobs.db import sessions, text
from jobs.models import Job, Pause, Status, job_models, model_of
from jobs.queue import wakeup

log = logging.getLogger(__name__)


def pause(kind: str, reason: str, until: datetime | None = None, by: object = "a program") -> bool:
    """Claim no job of this kind until the given end, or until a person resumes it.

    Returns False and changes nothing if the current pause is longer: only `resume` shortens it.
    """
    model = _known(kind)
    facts = {"reason": text.clean(reason), "until": until, "by": text.clean(by, 200)}
    with sessions.short_transaction():
        row, is_new = Pause.objects.select_for_update().get_or_create(kind=kind, defaults=facts)
        if not is_new:
            lasting = Pause.objects.of(kind).exists()
            if lasting and until and (row.until is None or row.until > until):
                log.info("%s stays paused until %s, which %s left", kind, row.until, by)
                return False
            since = {} if lasting else {"created_at": Now()}
            Pause.objects.filter(kind=kind).update(**facts, **since)
        if until:  # after a pause without an end, resume() does this
            _be_patient(model, until)
    log.info("%s paused by %s until %s: %s", kind, by, until or "resumed", reason)
    return True


def resume(kind: str, by: object = "a program") -> bool:
    """Let jobs of this kind start again; False if it was not paused.

    The row stays, with its end: its jobs have not waited for workers before that.
    """
    model = _known(kind)
    with sessions.short_transaction():
        was_paused = bool(Pause.objects.of(kind).update(until=Now()))
        if was_paused:
            _be_patient(model, Now())
            wakeup.announce(model)
    log.info("%s resumed by %s", kind, by)
    return was_paused


def _known(kind: str) -> type[Job]:
    """The model of a kind; raises ValueError if there is none."""
    if model := model_of(kind):
        return model
    known = ", ".join(model._meta.label for model in job_models())
    raise ValueError(f"There is no kind of job {kind!r}. Known: {known}.")


def _be_patient(model: type[Job], until: Any) -> None:
    """Patience with an unavailable provider does not count the time of an operator's pause."""
    waiting = model.objects.filter(status=Status.QUEUED, unavailable_since__isnull=False)
    locked = waiting.order_by("id").select_for_update(skip_locked=True)
    jobs = model.objects.with_ids(list(locked.values_list("id", flat=True)))
    jobs.update(unavailable_since=Greatest(F("unavailable_since"), until))
