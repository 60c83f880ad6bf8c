"""The books of paid calls: an intention is written before anything is sent, and its end after."""

import time
from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from django.conf import settings
from django.db.models import Max
from django.db.models.functions import Now

from jobs.db import sessions
from jobs.errors import LeaseLost, OutcomeUnknown, Snooze
from jobs.models import Call, State
from jobs.paid import limits
from jobs.run import Run

MARGIN = timedelta(seconds=30)  # that a run has beyond the deadline of its call


def begin(run: Run, name: str, key: str, payload_hash: str) -> tuple[Call, float]:
    """Confirm the claim, take a token, book the price, write the intent: all or nothing."""
    run.check()
    with sessions.short_transaction():
        provider = limits.lock(name)
        _confirm(run)
        refuse_after_too_many(key)
        if Call.objects.filter(key=key, state__in=[State.INTENT, State.STORED]).exists():
            raise Snooze(1, f"Another call of {name} for it has begun, or was answered just now.")
        limits.take(provider)
        timeout = timedelta(seconds=provider.timeout)
        number = (Call.objects.filter(key=key).aggregate(last=Max("number"))["last"] or 0) + 1
        call = Call.objects.create(
            provider=name,
            job_id=run.job.id,
            kind=run.job._meta.label,
            epoch=run.epoch,
            worker=run.job.locked_by or "",
            key=key,
            number=number,
            payload_hash=payload_hash,
            answer_name=f"calls/{key}/{number}",
            cost=provider.price,
            deadline=provider.now + timeout,
            started_at=provider.now,
        )
    run.is_paying = True
    if run.deadline < time.monotonic() + (timeout + MARGIN).total_seconds():
        run.allow(timeout + MARGIN)
    return call, timeout.total_seconds()


def _confirm(run: Run) -> None:
    held = type(run.job).objects.held(run.job)
    if not held.filter(lease_expires_at__gt=Now()).exists():
        raise LeaseLost("The claim is gone: nothing may be bought for it.")


def refuse_after_too_many(key: str) -> None:
    """Money that may have been spent for nothing has an end, unless a person says go on."""
    lost = Call.objects.filter(key=key, state=State.UNKNOWN, excused=False).count()
    if lost > settings.UNKNOWN_REPEATS:
        raise OutcomeUnknown(
            f"Outcome unknown: {lost} calls may have been paid for, but their answers were lost."
            " Look at the provider's own records, then requeue the job to ask again."
        )


def excuse(job_ids: Iterable[UUID]) -> None:
    """A person wants these jobs to go on, whatever answers were lost."""
    lost = Call.objects.filter(job_id__in=list(job_ids), state__in=[State.UNKNOWN, State.STORED])
    lost.update(excused=True, seen=True)


# How a call ends. Not guarded by the job's epoch: money spent by a worker that has lost its
# claim is spent all the same, and its answer is as good as any.

ENDS_FROM = {
    State.STORED: (State.INTENT, State.UNKNOWN),
    State.UNKNOWN: (State.INTENT,),
    State.FAILED: (State.INTENT, State.UNKNOWN, State.STORED),
}


def end(
    call: Call, state: State, error: str = "", cost: Decimal | None = None, **told: object
) -> None:
    """Write what became of a call, once; `cost` corrects what was booked, if it is known."""
    with sessions.short_transaction():
        if cost is not None:
            limits.lock(call.provider)
        ending = Call.objects.filter(pk=call.pk, state__in=ENDS_FROM[state])
        booked = ending.values_list("cost", flat=True).first()
        if booked is not None:
            cost = booked if cost is None else cost
            ending.update(state=state, error=error, cost=cost, finished_at=Now(), **told)
            limits.book(call.provider, cost - booked, call.started_at)
    call.refresh_from_db()
