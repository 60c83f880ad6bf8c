"""Which history is old enough to leave: that of jobs that ended long ago, or that are gone.

Candidates are found by the age of their rows, in the order of an index, page by page. What stays
although it is old, because its job is alive, is passed once per run.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from itertools import islice
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from jobs.archive import files
from jobs.archive.ages import Ages
from jobs.archive.files import Row
from jobs.db.lookups import AnyOf
from jobs.models import Attempt, Call, Outcome, State, model_of

T = TypeVar("T")

PAGE = 5_000  # candidates, of which only ids and times are read
ROWS = 500  # whole rows

# The answer's file is deleted (see `answers`), and no person has to look into the call any more.
ENDED_CALL = Q(state__in=[State.STORED, State.FAILED]) | Q(state=State.UNKNOWN, seen=True)
WITHOUT_ANSWER = Q(answer_expired=True, answer_size=None) & ENDED_CALL


class Chunk(NamedTuple):
    """Jobs of one kind that ended on one day, with their epochs; None: the job's row is gone."""

    kind: str
    day: date
    jobs: dict[UUID, int | None]


class Candidate(NamedTuple):
    moment: datetime
    kind: str
    job_id: UUID


def chunks(ages: Ages) -> Iterator[Chunk]:
    """Everything whose history leaves, in chunks of bounded size."""
    if ages.history is None:
        return
    for kind in kinds():
        yield from _chunks(heapq.merge(*(_pages(rows) for rows in attempts(kind, ages))), ages)
    yield from _chunks(heapq.merge(*(_pages(rows) for rows in calls(ages))), ages)


def kinds() -> Iterator[str]:
    """The kinds in the history, with one index lookup each; some may not be installed any more."""
    rows = Attempt.objects.order_by("kind").values_list("kind", flat=True)
    kind = rows.first()
    while kind is not None:
        yield kind
        kind = rows.filter(kind__gt=kind).first()


def attempts(kind: str, ages: Ages) -> list[QuerySet[Any]]:
    """Old attempts of a kind, by outcome: as the index attempt_recent is ordered."""
    old = Attempt.objects.filter(kind=kind, ended_at__lt=ages.history)
    return [old.filter(outcome=way).annotate(moment=F("ended_at")) for way in Outcome]


def calls(ages: Ages) -> list[QuerySet[Any]]:
    """Old calls whose answers are gone, by state: as the index call_state_started is ordered."""
    ends = {
        State.STORED: ages.answered_calls,
        State.FAILED: ages.history,
        State.UNKNOWN: ages.history,
    }
    gone = Call.objects.filter(WITHOUT_ANSWER).annotate(moment=F("started_at"))
    return [gone.filter(state=state, started_at__lt=end) for state, end in ends.items() if end]


def _pages(rows: QuerySet[Any]) -> Iterator[Candidate]:
    """All rows by their moment; each page begins where the last one ended."""
    in_order = rows.order_by("moment", "pk").values_list("moment", "pk", "kind", "job_id")
    page = list(in_order[:PAGE])
    while page:
        for moment, _, kind, job_id in page:
            yield Candidate(moment, kind, job_id)
        moment, pk, *_ = page[-1]
        later = Q(moment__gt=moment) | Q(moment=moment, pk__gt=pk)
        page = list(in_order.filter(later, moment__gte=moment)[:PAGE])


def _chunks(candidates: Iterable[Candidate], ages: Ages) -> Iterator[Chunk]:
    for some in several(candidates, PAGE):
        moments: dict[str, dict[UUID, datetime]] = defaultdict(dict)
        for moment, kind, job_id in some:
            moments[kind].setdefault(job_id, moment)
        for kind, of_jobs in moments.items():
            yield from _by_day(kind, of_jobs, ages)


def _by_day(kind: str, moments: dict[UUID, datetime], ages: Ages) -> Iterator[Chunk]:
    found = states(kind, moments)
    days: dict[date, dict[UUID, int | None]] = defaultdict(dict)
    for id, moment in moments.items():
        if (job := found.get(id)) is None:
            days[timezone.localdate(moment)][id] = None
        elif job.finished_at is not None and job.finished_at < ages.history:
            days[timezone.localdate(job.finished_at)][id] = job.epoch
    for day in sorted(days):
        yield Chunk(kind, day, dict(sorted(days[day].items())))


def states(kind: str, ids: Iterable[UUID]) -> dict[UUID, Any]:
    """The epoch and the end of these jobs, for those whose row exists."""
    model = model_of(kind)
    if model is None:
        return {}
    rows = model.objects.with_ids(ids).values_list("id", "epoch", "finished_at", named=True)
    return {row.id: row for row in rows}


# The rows of a chunk


def rows(chunk: Chunk, ages: Ages) -> Iterator[Row]:
    """The history of these jobs that leaves, sorted by job: a few hundred rows are held at once."""
    old_attempts = Attempt.objects.filter(ended_at__lt=ages.history)
    old_calls = Call.objects.filter(WITHOUT_ANSWER, started_at__lt=ages.history)
    yield from heapq.merge(
        _rows("attempt", old_attempts, chunk, "epoch"),
        _rows("call", old_calls, chunk, "id"),
        key=lambda row: (row.job_id, row.record),
    )


def _rows(record: str, old: QuerySet[Any], chunk: Chunk, then_by: str) -> Iterator[Row]:
    columns = files.columns_of(old.model)
    of_kind = old.filter(kind=chunk.kind)
    for ids in several(chunk.jobs, ROWS):
        ours = of_kind.filter(AnyOf(F("job_id"), ids)).order_by("job_id", then_by).values(*columns)
        page = list(ours[:ROWS])
        while page:
            for row in page:
                yield files.as_row(record, row)
            if len(page) < ROWS:
                break
            job_id, last = page[-1]["job_id"], page[-1][then_by]
            later = Q(job_id__gt=job_id) | Q(job_id=job_id, **{f"{then_by}__gt": last})
            page = list(ours.filter(later)[:ROWS])


def several(things: Iterable[T], most: int) -> Iterator[list[T]]:
    """Lists of at most this many of them."""
    left = iter(things)
    while some := list(islice(left, most)):
        yield some
