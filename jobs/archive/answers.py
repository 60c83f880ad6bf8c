"""Deleting raw answers, and the stored results of batches, when they are old enough.

An answer is first marked as expired, while its job is locked and has ended long ago. From then on
nothing uses it: a job that a person requeues buys anew. Then the file is deleted, and then the
call forgets the size of its answer. Killed in between, the next run goes on from the mark.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Concat

from jobs import queue, storage
from jobs.archive import leaving
from jobs.archive.ages import Ages
from jobs.db import sessions
from jobs.models import ENDED, Call, State, model_of
from jobs.paid.batches import fetching
from jobs.paid.batches.models import Batch

GoOn = Callable[[], bool]
PAGE = 200
KNOWN = Q(answer_size__isnull=False)
# The row names no file, but there may be one: of an answer that came too late to be recorded. If
# the row left without it, a later call of the job would find the file under its own name.
PERHAPS = Q(answer_size=None, answer_expired=False)


class Due(NamedTuple):
    """Calls whose answers expire, if their jobs ended before this moment."""

    calls: QuerySet[Call]
    before: datetime


def due(ages: Ages) -> Iterator[Due]:
    """Each state by itself: as the index call_state_started is ordered."""
    for state in (State.STORED, State.FAILED, State.UNKNOWN):
        of_state = Call.objects.filter(leaving.ENDED_CALL, state=state)
        if ages.answers:
            yield Due(of_state.filter(KNOWN, started_at__lt=ages.answers), ages.answers)
        if ages.history and state != State.STORED:
            yield Due(of_state.filter(PERHAPS, started_at__lt=ages.history), ages.history)


def expire(ages: Ages, go_on: GoOn) -> Counter[str]:
    """Delete what is old enough, until there is nothing left or `go_on` says no."""
    done: Counter[str] = Counter()
    for calls, before in due(ages):
        for page in _pages(calls):
            if not go_on():
                return done
            done["answers"] += _expire(page, before)
    if ages.answers:
        done += _expire_batches(ages.answers, go_on)
    return done


def _pages(calls: QuerySet[Call]) -> Iterator[list[Call]]:
    in_order = calls.order_by("started_at", "pk").defer("request", "error")
    page = list(in_order[:PAGE])
    while page:
        yield page
        last = page[-1]
        later = Q(started_at__gt=last.started_at) | Q(started_at=last.started_at, pk__gt=last.pk)
        page = list(in_order.filter(later, started_at__gte=last.started_at)[:PAGE])


def _expire(calls: list[Call], before: datetime) -> int:
    """Mark, delete, forget; returns how many answers were known and are deleted."""
    marked = mark(calls, before)
    sessions.give_back()  # the storage may be slow
    deleted: list[Call] = []
    try:
        for call in marked:
            storage.named("answers").remove(call.answer_name)
            deleted.append(call)
    finally:  # a storage that fails now and then must not hold up a whole page for ever
        expired = Call.objects.filter(pk__in=[call.pk for call in deleted], answer_expired=True)
        expired.update(answer_size=None)
    return sum(call.answer_size is not None for call in marked)


@queue.repeated
def mark(calls: Collection[Call], before: datetime) -> list[Call]:
    """Mark the answers of jobs that ended before this moment, or are gone; returns their calls.

    The jobs are locked meanwhile. A job that is requeued later does not see these answers, and
    one that was requeued earlier keeps them.
    """
    by_kind: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        by_kind[call.kind].append(call)
    marked: list[Call] = []
    with sessions.short_transaction():
        for kind in sorted(by_kind):
            ids = {call.job_id for call in by_kind[kind]}
            old = _ended_or_gone(kind, ids, before)
            marked += [call for call in by_kind[kind] if call.job_id in old]
        return [call for call in marked if _mark(call)]


def _ended_or_gone(kind: str, ids: Collection[UUID], before: datetime) -> set[UUID]:
    model = model_of(kind)
    if model is None:
        return set(ids)
    ended = model.objects.with_ids(ids).ended().filter(finished_at__lt=before).order_by("id")
    locked = set(ended.select_for_update(skip_locked=True).values_list("id", flat=True))
    return locked | (set(ids) - set(model.objects.with_ids(ids).values_list("id", flat=True)))


def _mark(call: Call) -> bool:
    """A size, even of 0 bytes, means that the file may still be there."""
    same = Call.objects.same(call).filter(leaving.ENDED_CALL, state=call.state)
    return bool(same.update(answer_expired=True, answer_size=Coalesce("answer_size", 0)))


# The results of batches, as they came


def old_results(before: datetime) -> Any:
    """Batches that ended before this moment and whose results are still there."""
    return Batch.objects.filter(status__in=ENDED, finished_at__lt=before).exclude(file="")


def _expire_batches(before: datetime, go_on: GoOn) -> Counter[str]:
    done: Counter[str] = Counter()
    after = UUID(int=0)
    old = old_results(before)
    while page := list(old.filter(id__gt=after).order_by("id")[:PAGE]):
        after = page[-1].id
        for batch in page:
            if not go_on():
                return done
            done["batch_results"] += _expire_results(batch, before)
    return done


def _expire_results(batch: Batch, before: datetime) -> int:
    with sessions.short_transaction():
        ended: Any = Batch.objects.filter(pk=batch.pk, status__in=ENDED, finished_at__lt=before)
        if not batch.file.startswith(fetching.EXPIRED):
            ended.update(file=Concat(Value(fetching.EXPIRED), F("file")))
        file = (
            ended.filter(file__startswith=fetching.EXPIRED).values_list("file", flat=True).first()
        )
    if file is None:  # requeued just now
        return 0
    sessions.give_back()
    for name in fetching.names_of(file.removeprefix(fetching.EXPIRED)):
        storage.named("answers").remove(name)
    Batch.objects.filter(pk=batch.pk, file=file).update(file="")
    return 1
