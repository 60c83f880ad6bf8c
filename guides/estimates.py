"""What a guide's pictures wait for, and how long they may still take.

No estimate is better than a wrong one: None means that it is unknown.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Exists, F, QuerySet, Window
from django.db.models.functions import Now, RowNumber

from guides.later import without_batches
from guides.models import SpotImageJob
from guides.pace import Pace, find_pace
from jobs.models import JobQuerySet, Pause, Provider, Status
from jobs.paid import limits, waiting
from jobs.paid.waiting import Reason, Wait

MOST_COUNTED = 1_000  # jobs ahead in the line
KEEP_MOVING = {Reason.TURN, Reason.BUSY, Reason.RATE}  # these lines move by themselves


class Line(NamedTuple):
    """The first jobs that wait."""

    before: dict[str, int]  # spot of the guide -> number of jobs ahead of it
    is_long: bool  # more jobs wait than were counted


NOBODY = Line({}, is_long=False)


@dataclass(frozen=True)
class Estimate:
    position: int | None = None  # jobs ahead of it, counted up to MOST_COUNTED
    seconds: int | None = None


def living_jobs(plan_id: str) -> dict[str, Any]:
    """The jobs of a guide that have not ended, by spot, each with the database's time.

    And with whether their kind is paused, so that polls need no query for that.
    """
    jobs = SpotImageJob.objects.living().filter(plan_id=plan_id)  # type: ignore[misc]
    pauses = Pause.objects.of(SpotImageJob._meta.label)
    timed: QuerySet[Any] = jobs.annotate(now=Now(), is_kind_paused=Exists(pauses))
    return {job.spot_name: job for job in timed}


def find_provider() -> Provider:
    return limits.find(SpotImageJob.provider_name())


def waits_for(jobs: Mapping[str, Any], provider: Provider | None) -> dict[str, Wait]:
    """What each job that is not running waits for."""
    is_paused = any(job.is_kind_paused for job in jobs.values())
    pause = waiting.pause_of(SpotImageJob) if is_paused else None
    found = {name: waiting.waits_for(job, provider, pause) for name, job in jobs.items()}
    return {name: wait for name, wait in found.items() if wait}


def estimate(
    plan_id: str, jobs: Mapping[str, Any], waits: Mapping[str, Wait], provider: Provider | None
) -> dict[str, Estimate]:
    """For each spot with a job: its place in the line and the seconds still expected."""
    if not jobs:
        return {}
    due = look_at_line(plan_id, without_batches(SpotImageJob.objects.due(), provider))
    later = NOBODY
    if any(wait.reason == Reason.RETRY for wait in waits.values()):
        queued = SpotImageJob.objects.filter(status=Status.QUEUED)
        later = look_at_line(plan_id, without_batches(queued, provider))
    last = max([*due.before.values(), *later.before.values()], default=-1)
    pace = find_pace(provider, last + 1)
    starts = pace.starts(last + 1) if pace else []
    found = {}
    for name, job in jobs.items():
        wait = waits.get(name)
        if wait and wait.reason == Reason.BATCH:
            found[name] = Estimate()  # it stands in no line
        elif wait and wait.reason == Reason.RETRY:
            found[name] = of_retry(job, wait, later, pace, starts)
        else:
            found[name] = of_job(job, wait, due, pace, starts)
    return found


def of_job(
    job: Any, wait: Wait | None, line: Line, pace: Pace | None, starts: list[float]
) -> Estimate:
    if wait is None:  # it is being made
        held = job.now - job.locked_at if job.locked_at else timedelta(0)
        return Estimate(seconds=rounded(pace.left(held) if pace else None))
    before = line.before.get(job.spot_name)
    if before is None:
        # Too many jobs are ahead of it, or it was claimed during this look.
        return Estimate(position=MOST_COUNTED if line.is_long else None)
    moves = wait.reason in KEEP_MOVING or (wait.reason == Reason.PAUSED and wait.until)
    if pace is None or not moves or before >= pace.affordable:
        return Estimate(before)
    return Estimate(before, rounded(starts[before] + pace.held))


def of_retry(job: Any, wait: Wait, line: Line, pace: Pace | None, starts: list[float]) -> Estimate:
    """Estimate a job that waits for its retry, behind the jobs that wait now."""
    before = line.before.get(job.spot_name)
    if pace is None or before is None or before >= pace.affordable:
        return Estimate()
    until = (wait.until - job.now).total_seconds() if wait.until else 0.0
    return Estimate(seconds=rounded(max(until, starts[before]) + pace.held))


def rounded(seconds: float | None) -> int | None:
    return None if seconds is None else ceil(seconds)


def look_at_line(plan_id: str, queued: JobQuerySet) -> Line:
    """Number the first thousand of these jobs, and find those of the guide among them.

    Reads in the order of the claim, along its index, so the query is short.
    """
    order = [F("priority").asc(), F("run_after").asc(), F("created_at").asc()]
    numbered = queued.in_turn().annotate(turn=Window(RowNumber(), order_by=order))
    first = numbered.values_list("plan_id", "spot_name", "turn")[:MOST_COUNTED]
    select, parameters = first.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT * FROM ({select}) AS line WHERE plan_id = %s OR turn = %s",  # noqa: S608
            [*parameters, plan_id, MOST_COUNTED],
        )
        found = cursor.fetchall()
    before = {name: turn - 1 for plan, name, turn in found if plan == plan_id}
    return Line(before, any(turn == MOST_COUNTED for _, _, turn in found))


def together(estimates: Iterable[Estimate]) -> int | None:
    """Seconds until all pictures are ready; None if one of them has no estimate."""
    seconds = [estimate.seconds for estimate in estimates]
    known = [number for number in seconds if number is not None]
    return max(known) if known and len(known) == len(seconds) else None
