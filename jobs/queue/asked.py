"""What a person asks for: cancel, and requeue.

Both take any number of jobs in the order of their ids, one transaction per chunk. Called
inside a transaction, they join it: so the console writes its audit together with the move.
"""

import logging
from collections.abc import Collection, Iterator
from typing import Any, TypeVar
from uuid import UUID

from django.db import Error
from django.db.models import Case, F, QuerySet, SmallIntegerField, When
from django.db.models.functions import Now

from jobs.db import faults, sessions
from jobs.errors import Cancel
from jobs.models import ENDED, Job, Outcome, Status
from jobs.paid import ledger
from jobs.queue import hooks, moves, processes, settling, wakeup
from jobs.queue.hooks import HookRaised, HookWaited
from jobs.queue.outcomes import End
from jobs.tracing import logged

log = logging.getLogger(__name__)
JobT = TypeVar("JobT", bound=Job)

FIRST_IN_LINE = -32_768  # the smallest priority there is
# Requeueing resets the priority that "first in line" gave.
USUAL_PRIORITY = Case(
    When(priority=FIRST_IN_LINE, then=0), default=F("priority"), output_field=SmallIntegerField()
)


def chunks(jobs: QuerySet[Any], most: int | None = None) -> Iterator[list[UUID]]:
    """The ids of all these jobs, or of the first `most`, in chunks of bounded size."""
    ids = jobs.order_by("id").values_list("id", flat=True)
    size = moves.CHUNK if most is None else min(moves.CHUNK, most)
    chunk = list(ids[:size])
    while chunk:
        yield chunk
        if most is not None:
            most -= len(chunk)
            size = min(size, most)
        chunk = list(ids.filter(id__gt=chunk[-1])[:size])


# queued, processing -> canceled


@logged
def cancel(
    jobs: QuerySet[JobT],
    reason: str = "Canceled by a person.",
    by: object = "a program",
    *,
    most: int | None = None,
) -> list[JobT]:
    """Cancel the jobs that have not ended; returns the canceled ones."""
    living = jobs.exclude(status__in=ENDED)
    canceled = [job for ids in chunks(living, most) for job in _cancel(jobs.model, ids, reason)]
    log.info("%s canceled by %s: %d", jobs.model._meta.label, by, len(canceled))
    return canceled


def _cancel(model: type[Job], ids: list[UUID], reason: str) -> list[Any]:
    living = settling.with_facts(model.objects.with_ids(ids).living(), model.patience)
    try:
        with hooks.transaction_of_hooks():
            rows = [row for row in living.order_by("id").select_for_update() if row.is_cancelable]
            settling.write(model, [(_canceled(row, reason), row) for row in rows])
        return rows
    except HookRaised:  # settle finds the job whose hook raised, and cancels it without the hook
        ends = [_canceled(job, reason) for job in living.order_by("id") if job.is_cancelable]
        missed = settling.settle(ends, expected=settling.is_living, wait=True)
        return [end.job for end in ends if end not in missed]


def _canceled(job: Job, reason: str) -> End:
    return End(job, Outcome.CANCELED, error=Cancel(reason))


# succeeded, failed, canceled -> queued


@logged
def requeue(
    jobs: QuerySet[JobT],
    by: object = "a program",
    *,
    origins: Collection[Status] = ENDED,
    first: bool = False,
    most: int | None = None,
) -> list[JobT]:
    """Requeue the jobs whose status is among `origins`; returns the requeued ones.

    With `first` they are claimed before all others.
    """
    origins = set(origins) & set(ENDED)
    priority = FIRST_IN_LINE if first else USUAL_PRIORITY
    ended = jobs.filter(status__in=origins)
    requeued = [
        job
        for ids in chunks(ended, most)
        for job in _requeue(jobs.model, ids, origins, priority=priority)
    ]
    if requeued:
        wakeup.announce(jobs.model)
    log.info("%s requeued by %s: %d", jobs.model._meta.label, by, len(requeued))
    return requeued


def _requeue(
    model: type[Job],
    ids: list[UUID],
    origins: Collection[Status],
    *,
    hook: bool = True,
    **columns: Any,
) -> list[Any]:
    try:
        with hooks.transaction_of_hooks():
            ended = model.objects.with_ids(ids).filter(status__in=origins)
            rows = list(ended.order_by("id").select_for_update())
            moves.move(
                model.objects.with_ids([job.id for job in rows]),
                Status.QUEUED,
                epoch=F("epoch") + 1,
                attempts=0,
                interruptions=0,
                run_after=Now(),
                unavailable_since=None,
                unique_key=None,  # a worker of older code may have left it
                **columns,
            )
            processes.note_requeued(rows)
            ledger.excuse(rows)
            if hook:
                hooks.call_of_each(rows, "on_requeue")
        return rows
    except HookWaited as waited:
        if len(ids) > 1:
            return _requeue_free(model, ids, origins, **columns)
        raise waited.error from None  # the row may be free in a moment: the caller can try again
    except HookRaised as raised:
        if not hook:
            raise raised.error from None
        if len(ids) > 1:
            return [job for id in ids for job in _requeue(model, [id], origins, **columns)]
        log.error("on_requeue raised in %s; it moves without the hook", ids, exc_info=raised.error)
        return _requeue(model, ids, origins, hook=False, **columns)


def _requeue_free(
    model: type[Job], ids: list[UUID], origins: Collection[Status], **columns: Any
) -> list[Any]:
    """Requeue one by one; those whose hooks meet a locked row are left alone."""
    requeued: list[Any] = []
    with sessions.with_patience(sessions.BRIEF):
        for id in ids:
            try:
                requeued += _requeue(model, [id], origins, **columns)
            except Error as error:
                if not faults.is_conflict(error):
                    raise
    return requeued
