"""A call joins the next batch of its provider, and its job waits without a slot."""

from datetime import timedelta
from typing import Any

from django.db import IntegrityError
from django.db.models.functions import Now

from jobs import errors, settings
from jobs.db import sessions
from jobs.errors import InBatch, PermanentError, ProviderUnavailable, Snooze
from jobs.models import Call, State, Status, Strategy
from jobs.paid import ledger, limits
from jobs.paid.batches import collecting, members
from jobs.paid.batches.models import Batch
from jobs.paid.batches.strategy import takes_batches
from jobs.paid.clients import services
from jobs.run import Run
from jobs.tracing import logged

# The batch wakes its jobs. This is for a job that it could not wake.
LONGEST_WAIT = timedelta(hours=26)


@logged
def join(
    run: Run, name: str, key: str, payload_hash: str, request: dict[str, Any], strategy: str
) -> None:
    """Raise InBatch if this call is made in a batch, or return: then it is made at once.

    The error of its line in an earlier batch is raised here too.
    """
    last = Call.objects.filter(key=key).order_by("-number").first()
    if last and last.is_in_batch:
        if Batch.objects.filter(pk__in=[last.batch_id]).exists():
            raise in_batch(name)
        last = _leave_deleted(last)
    if last and last.state == State.FAILED:
        raise_again(last)
    is_waiting = last is not None and last.state == State.WAITING
    if is_waiting and last and last.strategy == Strategy.SYNC:
        return
    if not (services.has_batches(name) and takes_batches(limits.find(name), strategy)):
        return
    if not is_waiting:
        ledger.refuse_after_too_many(key)
        _wait(run, name, key, payload_hash, request, strategy)
    Batch.objects.collect_soon(name)
    _send_if_full(name)
    if not Call.objects.for_batch().filter(key=key).exists():  # it has ended just now
        raise Snooze(1, "The call that waited for a batch has ended.")
    raise in_batch(name)


def _send_if_full(name: str) -> None:
    """A batch that is full does not wait for the end of its time."""
    last = settings.BATCH_MOST_CALLS - 1
    if collecting.waiting(name)[last : last + 1].exists():
        asleep = Batch.objects.living().filter(provider=name, collected_at=None)
        asleep.filter(status=Status.QUEUED, run_after__gt=Now()).update(run_after=Now())


def _leave_deleted(call: Call) -> Call:
    """A person deleted its failed batch: if it was sent, whether it was billed is not known."""
    same = Call.objects.same(call)
    members.lose(same, "Its batch was deleted before it was answered.")
    members.release(same.filter(state=State.WAITING))
    return same.get()


def in_batch(name: str) -> InBatch:
    return InBatch(LONGEST_WAIT.total_seconds(), f"It is answered in a batch of {name}.")


def raise_again(call: Call) -> None:
    """Raise the error of a batch's line in the job it belongs to.

    A permanent one until a person requeues the job; another once, then it may be bought again.
    """
    if not call.error_kind or call.excused:
        return
    kind: type[Exception] = getattr(errors, call.error_kind, PermanentError)
    if not issubclass(kind, PermanentError):
        Call.objects.same(call).update(excused=True)
    if issubclass(kind, ProviderUnavailable):
        raise kind(reason=call.error)
    raise kind(call.error)


def _wait(
    run: Run, name: str, key: str, payload_hash: str, request: dict[str, Any], strategy: str
) -> None:
    """Leave a call that waits. Not in the transaction of `collect_soon`: see there."""
    try:
        with sessions.short_transaction():
            ledger.confirm(run)
            ledger.refuse_beside_another(key, name)
            ledger.write(
                run,
                name,
                key,
                ledger.next_number(key),
                payload_hash,
                state=State.WAITING,
                deadline=Now(),
                request=request,
                strategy=strategy,
            )
    except IntegrityError:  # a run of this job that lost its claim has left one just now
        return
