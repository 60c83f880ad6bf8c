"""The calls of a batch: how many together are booked, released, sent again, or told their error."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from django.apps import apps
from django.db.models import Exists, F, OuterRef, Q, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Now

from jobs import spans, tracing
from jobs.db import sessions, text
from jobs.errors import LeaseLost, OutcomeUnknown, PermanentError, Snooze
from jobs.models import Call, Job, JobQuerySet, Provider, State, Status, Strategy
from jobs.models.call import CallQuerySet
from jobs.paid import ledger, limits
from jobs.paid.batches import pace

if TYPE_CHECKING:
    from jobs.paid.batches.models import Batch

CHUNK = 500
SENT = (State.INTENT, State.UNKNOWN)  # their answers may still come
# A late answer still counts after a person decided that the call was not billed.
EXPECTED = Q(state__in=SENT) | Q(state=State.FAILED, error=ledger.NOT_BILLED)
COMMITTED_WITHIN = timedelta(seconds=5)  # after the statement that ends a call
EXPECTED_WITHIN = timedelta(days=14)  # after that, no answer is expected
MOST_BATCHES = 5  # that a call may pass through without an answer


def of(batch: "Batch") -> CallQuerySet:
    return Call.objects.filter(batch_id=batch.id)


def told(batch: "Batch") -> CallQuerySet:
    """The calls whose jobs have an answer, an error or a question; the others wait again."""
    return of(batch).exclude(state=State.FAILED, error_kind="")


def in_chunks(calls: CallQuerySet, size: int = CHUNK) -> Iterator[list[Call]]:
    """All these calls in the order of their ids, which is the order of the file's lines."""
    last = 0
    while chunk := list(calls.filter(pk__gt=last).order_by("pk")[:size]):
        yield chunk
        last = chunk[-1].pk


def light(calls: CallQuerySet) -> CallQuerySet:
    """Without their requests, which can be megabytes each, but with what counting needs."""
    told = calls.annotate(form=KT("request__form"), most_tokens=F("request__most_tokens"))
    return told.defer("request")


def note(batch: "Batch", **columns: object) -> None:
    """Record a step of the batch, if this worker still holds it."""
    held = type(batch).objects.held(batch)
    if not held.update(**columns):
        raise LeaseLost(f"{batch} was taken over by another worker.")
    batch.refresh_from_db(fields=list(columns))


# Jobs


def jobs_of(calls: Collection[Call]) -> Iterator[JobQuerySet]:
    """The jobs that these calls are for, one queryset for each of their models."""
    ids = defaultdict(list)
    for call in calls:
        ids[call.kind].append(call.job_id)
    for kind, members in ids.items():
        with suppress(LookupError):  # a model that is not installed any more
            model: type[Job] = apps.get_model(kind)
            yield model.objects.with_ids(members)


def traces(batch: "Batch") -> list[str]:
    """The traceparents of its first members, for links from the batch to them."""
    first = of(batch).only("job_id", "kind").order_by("pk")[: spans.MOST_LINKS]
    kept = [trace for jobs in jobs_of(first) for trace in jobs.values_list("trace", flat=True)]
    return [trace for trace in kept if trace and tracing.valid(trace)]


def wake(calls: Collection[Call]) -> bool:
    """Their jobs run as soon as a slot is free; False if one still sleeps, or may fall asleep.

    A locked row is left alone, and so is a job that runs right now.
    """
    are_awake = True
    for jobs in jobs_of(calls):
        # A job that has joined the next batch shall go on sleeping.
        next_call = Call.objects.for_batch().filter(job_id=OuterRef("id"))
        asleep = jobs.filter(~Exists(next_call), status=Status.QUEUED, run_after__gt=Now())
        ids = asleep.order_by("id").select_for_update(skip_locked=True).values_list("id", flat=True)
        with sessions.short_transaction():
            jobs.model.objects.with_ids(list(ids)).update(run_after=Now())
        are_awake = are_awake and not asleep.exists()
    return are_awake and not _may_fall_asleep(calls)


def _may_fall_asleep(calls: Collection[Call]) -> bool:
    """Whether a run is still unsettled that began before its call ended or was hurried."""
    ends = {call.job_id: call.finished_at or call.deadline for call in calls}
    for jobs in jobs_of(calls):
        for id, locked_at in jobs.processing().values_list("id", "locked_at"):
            if locked_at is None or locked_at <= ends[id] + COMMITTED_WITHIN:
                return True
    return False


def note_remote(calls: CallQuerySet, remote_id: str) -> None:
    for chunk in in_chunks(calls.only("job_id", "kind")):
        for jobs in jobs_of(chunk):
            jobs.model.note_batch(list(jobs.values_list("id", flat=True)), remote_id)


def are_wanted(batch: "Batch") -> bool:
    """Whether its file still fits: no job was canceled since, and no call has left the batch."""
    waiting = of(batch).filter(state=State.WAITING).only("job_id", "kind")
    wanted = sum(len(living(chunk)) for chunk in in_chunks(waiting))
    return wanted == batch.total


def living(calls: Collection[Call]) -> list[Call]:
    """The calls whose jobs still want the answer."""
    wanted = {id for jobs in jobs_of(calls) for id in jobs.living().values_list("id", flat=True)}
    return [call for call in calls if call.job_id in wanted]


# Money


def cost_of(call: Call, provider: Provider) -> Decimal:
    """The most that it can cost in a batch; the call comes from `light`."""
    most_input, most_output = call.most_tokens or ledger.NO_TOKENS  # type: ignore[attr-defined]
    return provider.cost(most_input, most_output, batch=True)


def book(batch: "Batch", provider: Provider) -> Decimal:
    """Write the intents of all members; returns what they can cost, for the caller to charge."""
    total = Decimal(0)
    waiting = of(batch).filter(state=State.WAITING)
    for chunk in in_chunks(light(waiting)):
        for call in chunk:
            call.cost = cost_of(call, provider)
            total += call.cost
        Call.objects.bulk_update(chunk, ["cost"])
    waiting.update(
        state=State.INTENT,
        booked_on=provider.booking_day,
        deadline=provider.now + EXPECTED_WITHIN,
    )
    return total


def unbook(calls: CallQuerySet, **columns: object) -> None:
    """Nothing was billed: give back what was booked, in the caller's transaction."""
    booked = calls.values_list("provider", "booked_on").annotate(sum=Sum("cost")).order_by()
    for name, day, amount in booked:
        if day and amount:
            limits.book(name, -amount, day)
    calls.update(cost=Decimal(0), **columns)


# What becomes of calls without an answer


def release(calls: CallQuerySet) -> None:
    """They were certainly not sent, or not accepted: they wait for the next batch again."""
    unbook(calls, state=State.WAITING, batch_id=None, booked_on=None)


def fail_old(calls: CallQuerySet, error: Exception) -> None:
    """A provider's faults are limited by time: calls that have waited too long get the error."""
    days = EXPECTED_WITHIN.days
    why = PermanentError(f"No batch answered it within {days} days: {error}")
    unbook(calls.filter(started_at__lt=Now() - EXPECTED_WITHIN), **_failed(why))


def again(call: Call, error: Exception) -> None:
    """Not billed: end this call, and let the same request wait for the next batch.

    After too many batches its job gets the error.
    """
    with sessions.short_transaction():
        limits.lock(call.provider)
        open_call = Call.objects.same(call).filter(state__in=SENT)
        request = open_call.values_list("request", flat=True).first()
        is_last = _batches_before(call) + 1 >= MOST_BATCHES
        if is_last:
            error = PermanentError(f"{MOST_BATCHES} batches brought no answer. The last: {error}")
        unbook(open_call, **_failed(error, told=is_last))
        if request is not None and not is_last:  # of an unknown call, its job decides
            _wait_again(call, request)


def _batches_before(call: Call) -> int:
    """How many batches had this request and brought nothing, since a person last asked for it."""
    same = Call.objects.filter(key=call.key, state=State.FAILED, batch_id__isnull=False)
    return same.filter(error_kind="", excused=False).count()


def _wait_again(call: Call, request: object) -> None:
    Call.objects.create(
        provider=call.provider,
        job_id=call.job_id,
        kind=call.kind,
        epoch=call.epoch,
        worker=call.worker,
        key=call.key,
        number=call.number + 1,
        payload_hash=call.payload_hash,
        state=State.WAITING,
        answer_name=ledger.name_of(call.key, call.number + 1),
        deadline=Now(),
        request=request,
        strategy=call.strategy,
    )


def fail(calls: CallQuerySet, error: BaseException) -> None:
    """End calls with an error, which their jobs raise when they run next."""
    if getattr(error, "billed", True):
        calls.update(**_failed(error))
        return
    with sessions.short_transaction():  # its price is given back once, whoever else ends it
        for name in set(calls.values_list("provider", flat=True)):
            limits.lock(name)
        unbook(calls, **_failed(error))


def drop(calls: CallQuerySet) -> None:
    """Their jobs don't want them any more, and they were not sent."""
    reason = "Its job ended before the call was sent."
    calls.update(state=State.FAILED, error=reason, finished_at=Now(), request=None)


def _failed(error: BaseException, *, told: bool = True) -> dict[str, object]:
    return {
        "state": State.FAILED,
        "error": text.message(error),
        "error_kind": text.kind(error) if told else "",
        "finished_at": Now(),
        "request": None,
    }


def lose(calls: CallQuerySet, why: str) -> None:
    """End them as unknown: they may or may not have been billed."""
    calls.filter(state=State.INTENT).update(
        state=State.UNKNOWN, error=why, finished_at=Now(), request=None
    )


def lost(batch: "Batch", why: str) -> OutcomeUnknown:
    """End all that was sent as unknown, and wake the jobs; returns the error of the batch.

    It raises Snooze while a job would sleep on: nobody would come back for it.
    """
    lose(of(batch), why)
    are_awake = [wake(chunk) for chunk in in_chunks(of(batch).defer("request"))]
    if not all(are_awake):
        raise Snooze(pace.SETTLING, why)
    return OutcomeUnknown(why)


def make_at_once(calls: CallQuerySet) -> int:
    """Waiting calls that no batch has collected are made at once; returns how many."""
    number = 0
    waiting = calls.uncollected().exclude(strategy=Strategy.SYNC)
    for chunk in in_chunks(waiting.defer("request")):
        same = Call.objects.uncollected().filter(pk__in=[call.pk for call in chunk])
        number += same.update(strategy=Strategy.SYNC, deadline=Now())
        wake(chunk)
    return number
