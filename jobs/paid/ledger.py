"""The records of paid calls: the intent is written before the request, the end after it."""

import logging
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from django.db import Error
from django.db.models import Max, Q
from django.db.models.functions import Coalesce, Now
from django.utils import timezone
from django.utils.translation import gettext_noop

from jobs import settings
from jobs.db import sessions
from jobs.errors import AnswerGone, LeaseLost, OutcomeUnknown, Snooze, TooLate
from jobs.models import Call, Job, Provider, State
from jobs.models.call import OVERDUE
from jobs.paid import limits
from jobs.run import Run

log = logging.getLogger(__name__)

Tokens = tuple[int, int]  # the most that go in, and that come out
NO_TOKENS: Tokens = (0, 0)
MARGIN = timedelta(seconds=30)  # of a run after the deadline of its call
# A request is sent within this time after its intent, or never. So even an answer that takes
# the whole timeout arrives before other workers mark the call as unknown.
SEND_WITHIN = OVERDUE * 2 / 3
RECORD_FOR = timedelta(seconds=15)  # after a longer outage, the call is unknown


@dataclass(frozen=True)
class Intent:
    """A recorded call whose request is not sent yet, and may only be sent until `send_by`."""

    run: Run
    call: Call
    timeout: float  # seconds
    send_by: float  # monotonic; counted from before the transaction of the intent
    full_at: datetime  # of the provider's tokens, after this one was taken

    def check(self) -> None:
        refuse_if_late(self.run, self.send_by)

    def withdraw(self, reason: str) -> None:
        """Nothing was sent: end the call, and return its token and its price.

        A call that is stored by now is left alone: another worker found an older answer
        under its name, whose own row was lost.
        """
        end(self.call, State.FAILED, reason, Decimal(0), origins=(State.INTENT, State.UNKNOWN))
        limits.give_back_token(self.call.provider, self.full_at)


def refuse_if_late(run: Run, send_by: float) -> None:
    """Raise TooLate if the claim may be gone or time is up: the process may have frozen."""
    try:
        run.check()
    except LeaseLost as error:
        raise TooLate(f"Nothing was sent: {error}") from error
    if time.monotonic() > send_by:
        raise TooLate("Nothing was sent: too much time has passed since the intent.")


def begin(
    run: Run, name: str, key: str, payload_hash: str, most_tokens: Tokens = NO_TOKENS
) -> Intent:
    """Confirm the claim, take a token, book the price, write the intent: all or nothing."""
    run.check()
    send_by = time.monotonic() + SEND_WITHIN.total_seconds()
    intent = None
    try:
        with sessions.short_transaction():
            provider = limits.lock(name)
            confirm(run)
            if not limits.is_free(name):
                limits.refuse_without_time(provider.timeout, run.time_left)
            refuse_after_too_many(key)
            # A call that waited for a batch, and is made at once now: it was never sent.
            Call.objects.uncollected().filter(key=key).delete()
            refuse_beside_another(key, name)
            cost = provider.cost(*most_tokens)
            limits.take(provider, cost)
            call = _write(run, provider, key, next_number(key), payload_hash, cost)
            intent = Intent(run, call, float(provider.timeout), send_by, provider.full_at)
    except Error as error:
        if intent:
            _withdraw_if_written(intent, error)
        raise
    run.is_paying = True
    if run.deadline < time.monotonic() + intent.timeout + MARGIN.total_seconds():
        run.allow(timedelta(seconds=intent.timeout) + MARGIN)
    return intent


def adopt(run: Run, name: str, key: str, number: int, payload_hash: str) -> Call:
    """Write the row of a stored answer again, after a failover or a restore lost it.

    The booking of its price was lost too, so the price is booked again.
    """
    with sessions.short_transaction():
        provider = limits.lock(name)
        refuse_beside_another(key, name)
        if next_number(key) != number:
            raise Snooze(1, f"Another call of {name} for this job was made just now.")
        limits.charge(provider, provider.price)
        return _write(run, provider, key, number, payload_hash, provider.price)


def next_number(key: str) -> int:
    """The number of the next try; its answer will be stored as calls/<key>/<number>."""
    return (Call.objects.filter(key=key).aggregate(last=Max("number"))["last"] or 0) + 1


def _write(
    run: Run, provider: Provider, key: str, number: int, payload_hash: str, cost: Decimal
) -> Call:
    return write(
        run,
        provider.name,
        key,
        number,
        payload_hash,
        cost=cost,
        booked_on=provider.spent_on,
        deadline=provider.now + timedelta(seconds=provider.timeout),
        started_at=provider.now,
    )


def write(run: Run, name: str, key: str, number: int, payload_hash: str, **columns: object) -> Call:
    """Insert the row of a call of this run, in any state."""
    return Call.objects.create(
        provider=name,
        job_id=run.job.id,
        kind=run.job._meta.label,
        epoch=run.epoch,
        worker=run.job.locked_by or "",
        key=key,
        number=number,
        payload_hash=payload_hash,
        answer_name=name_of(key, number),
        **columns,
    )


def name_of(key: str, number: int) -> str:
    return f"calls/{key}/{number}"


def _withdraw_if_written(intent: Intent, error: Error) -> None:
    """The commit may have succeeded although its reply was lost. No request was sent."""
    give_up_at = time.monotonic() + RECORD_FOR.total_seconds()
    try:
        intent.run.insist(lambda: intent.withdraw(f"Nothing was sent: {error}"), give_up_at, Error)
    except Error as fault:
        log.error("%s could not be withdrawn: %s", intent.call, fault)


def confirm(run: Run) -> None:
    held = type(run.job).objects.held(run.job)
    if not held.filter(lease_expires_at__gt=Now()).exists():
        raise LeaseLost("The claim is gone: nothing may be bought for this job.")


def refuse_beside_another(key: str, name: str) -> None:
    live = Q(state__in=[State.WAITING, State.INTENT]) | Q(state=State.STORED, answer_expired=False)
    if Call.objects.filter(live, key=key).exists():
        raise Snooze(1, f"Another call of {name} for this job has begun, or was answered just now.")


def refuse_after_too_many(key: str) -> None:
    """Limit how often a lost answer is paid for again, unless a person requeues the job."""
    lost = Call.objects.filter(key=key, state=State.UNKNOWN, excused=False).count()
    if lost > settings.UNKNOWN_REPEATS:
        raise OutcomeUnknown(
            f"Outcome unknown: {lost} calls may have been paid for, but their answers were lost."
            " Look at the provider's own records, then requeue the job to ask again."
        )


def excuse(jobs: Collection[Job]) -> None:
    """A person requeued these jobs: lost answers and errors in batches no longer stop them.

    A stored answer may be bought again only if its job has failed because it is gone: only
    then has the person been told.
    """
    calls = Call.objects.filter(job_id__in=[job.id for job in jobs])
    calls.unknown().update(excused=True, seen=True)
    calls.filter(state=State.FAILED, batch_id__isnull=False).update(excused=True)
    gone = [job.id for job in jobs if job.error_kind == AnswerGone.__name__]
    if gone:
        Call.objects.filter(job_id__in=gone, state=State.STORED).update(excused=True, seen=True)


# How a call ends. Not guarded by the job's epoch: money spent by a worker that lost its claim
# is still spent, and its answer is still good.

ENDS_FROM = {
    # From stored too: another worker may have found the answer without knowing its cost.
    State.STORED: (State.INTENT, State.UNKNOWN, State.STORED),
    State.UNKNOWN: (State.INTENT,),
    State.FAILED: (State.INTENT, State.UNKNOWN, State.STORED),
}


def end(
    call: Call,
    state: State,
    error: str = "",
    cost: Decimal | None = None,
    *,
    origins: Collection[State] = (),
    **told: object,
) -> None:
    """Write the end of a call once; `cost`, if known, corrects the booked price."""
    with sessions.short_transaction():
        if cost is not None:
            limits.lock(call.provider)
        ending = Call.objects.same(call).filter(state__in=origins or ENDS_FROM[state])
        booked = ending.values_list("cost", flat=True).first()
        has_ended = False
        if booked is not None:
            if cost is not None:
                told["cost"] = cost
                limits.book(call.provider, cost - booked, day_of(call))
            has_ended = bool(ending.update(state=state, error=error, finished_at=Now(), **told))
        if state == State.STORED and not has_ended:
            _overrule(call, cost, told)
    with suppress(Call.DoesNotExist):  # a failover lost the row
        call.refresh_from_db(from_queryset=Call.objects.same(call))


def day_of(call: Call) -> date:
    """The day on which its price was booked."""
    return call.booked_on or timezone.localdate(call.started_at)


# What a person found out about a call whose outcome is unknown.

NOT_BILLED = gettext_noop("The provider says that it was not paid.")


def was_not_billed(call: Call) -> bool:
    """Give the price back, and end the call as failed; False if it has changed meanwhile."""
    with sessions.short_transaction():
        limits.lock(call.provider)
        unknown = Call.objects.same(call).unknown().filter(seen=call.seen)
        # Locked: an answer that is being stored right now comes first.
        booked = unknown.select_for_update().values_list("cost", flat=True).first()
        if booked is None:
            return False
        limits.book(call.provider, -booked, day_of(call))
        end = Coalesce("finished_at", Now())
        unknown.update(
            state=State.FAILED, cost=Decimal(0), error=NOT_BILLED, seen=True, finished_at=end
        )
    return True


def _overrule(call: Call, cost: Decimal | None, told: dict[str, object]) -> None:
    """Keep an answer that came although a person was told that nothing was billed.

    The person's decision gave the price back, so the price is booked again.
    """
    limits.lock(call.provider)
    judged = Call.objects.same(call).filter(state=State.FAILED, error=NOT_BILLED, cost=0)
    cost = call.cost if cost is None else cost
    if judged.update(state=State.STORED, error="", finished_at=Now(), **{**told, "cost": cost}):
        limits.book(call.provider, cost, day_of(call))
        log.warning("%s was judged as not paid, but its answer came: its price is booked", call)
