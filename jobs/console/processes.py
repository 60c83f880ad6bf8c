"""What the console says about processes: how far they are, and what they wait for."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Subquery
from django.db.models.functions import Now
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from jobs.console import batches, counting, following, shown
from jobs.console.batches import Standing
from jobs.console.counting import Number
from jobs.db import clock
from jobs.models import Call, Job, JobQuerySet, Pause, Process, Status, job_models
from jobs.models.call import CallQuerySet
from jobs.paid import limits, waiting
from jobs.paid.batches.models import Batch

MOST_WAITS = 3  # texts in one row of a list


@dataclass
class Course:
    """A process at one moment, and what its open jobs wait for."""

    process: Process
    now: datetime
    running: int = 0
    is_due: bool = False  # whether a job of it could start now
    waits: list[str] = field(default_factory=list)
    follower: Job | None = None  # what followed, if it still exists

    @property
    def time(self) -> str:
        """How long it took, or since when it is open."""
        return shown.short((self.process.ended_at or self.now) - self.process.created_at)

    @property
    def state(self) -> str:
        process = self.process
        if process.ended_at is None:
            return pgettext("process", "open")
        if self.follower_failed:
            return _("ended, what followed failed")
        if process.failed:
            return _("ended, with failures")
        return _("ended, with canceled jobs") if process.canceled else _("ended")

    @property
    def colour(self) -> str:
        process = self.process
        if process.failed or self.follower_failed:
            return "danger"
        if process.ended_at is None:
            return "info"
        return "plain" if process.canceled or not process.total else "success"

    @property
    def situation(self) -> str:
        """What happens now, or what it waits for; empty when it has ended."""
        parts = self.waits[:MOST_WAITS]
        if len(self.waits) > MOST_WAITS:
            parts.append(_("and %s more") % (len(self.waits) - MOST_WAITS))
        return "; ".join(parts)

    @property
    def follows(self) -> str:
        return following.follows(self.process)

    @property
    def follower_failed(self) -> bool:
        return self.follower is not None and self.follower.status == Status.FAILED


def look(rows: Iterable[Process]) -> list[Course]:
    """These processes with what they wait for: a few queries per kind of job, for all of them."""
    now = clock.now()
    courses = [Course(process, now) for process in rows]
    living = {course.process.pk: course for course in courses if not course.process.ended_at}
    if living:
        _find_waits(living)
    found = following.followers(course.process for course in courses)
    for course in courses:
        course.follower = found.get(course.process.pk)
    return courses


def _find_waits(courses: dict[UUID, Course]) -> None:
    closed: dict[UUID, list[str]] = defaultdict(list)
    pauses = {pause.kind: pause for pause in Pause.objects.lasting()}
    for model in job_models():
        due = _count(model, courses)
        for id, text in _closed(model, due, pauses.get(model._meta.label)):
            closed[id].append(text)
    in_batches = _in_batches(courses)
    unsent = {_unsent_at(where) for found in in_batches.values() for where, _ in found}
    held_up = batches.held_up(unsent - {""})
    for id, course in courses.items():
        texts = [*_texts(course, in_batches[id], held_up), *closed[id]]
        course.waits = list(dict.fromkeys(texts))
    idle = {id: course for id, course in courses.items() if not course.waits}
    if idle:
        _find_rest(idle)


def _count(model: type[Job], courses: dict[UUID, Course]) -> list[UUID]:
    """Count running jobs of one kind; returns the processes with due ones.

    Those that wait are not counted: a process may have very many.
    """
    jobs = model.objects.filter(process_id__in=list(courses), status=Status.PROCESSING)
    running: Any = jobs.order_by().values("process_id").annotate(number=Count("pk"))
    for row in running:
        courses[row["process_id"]].running += row["number"]
    is_due = Exists(_queued(model).filter(run_after__lte=Now()))
    due = Process.objects.filter(is_due, pk__in=list(courses)).values_list("pk", flat=True)
    for id in due:
        courses[id].is_due = True
    return list(due)


def _queued(model: type[Job]) -> JobQuerySet:
    return model.objects.filter(process_id=OuterRef("pk"), status=Status.QUEUED)


def _closed(model: type[Job], ids: list[UUID], pause: Pause | None) -> Iterator[tuple[UUID, str]]:
    """Why due jobs of this kind don't start: a pause, a budget, a price."""
    name = model.provider_name() if ids else None
    wait = waiting.closed(limits.find(name)) if name else None
    if pause:
        name, wait = str(model._meta.verbose_name_plural), waiting.paused(pause)
    if wait and wait.reason in waiting.LASTING:
        for id in ids:
            yield id, f"{name}: {wait.text}"


Found = list[tuple[Standing | str, int]]


def _in_batches(courses: Collection[UUID]) -> dict[UUID, Found]:
    """The calls of each process that wait for a batch or are in one, by batch."""
    found: dict[UUID, Found] = defaultdict(list)
    groups = [
        (row["process"], row["batch_id"], row["provider"], row["many"])
        for model in job_models()
        for row in _calls(model, courses)
    ]
    ids = {batch_id for _, batch_id, _, _ in groups if batch_id}
    now = clock.now()
    rows: Any = Batch.objects.filter(pk__in=ids) if ids else []
    known = {batch.pk: Standing(batch, now) for batch in rows}
    for process, batch_id, provider, number in groups:
        found[process].append((known.get(batch_id) or provider, number))
    return found


def _calls(model: type[Job], ids: Collection[UUID]) -> Any:
    jobs = model.objects.filter(process_id__in=list(ids)).living()
    mine = model.objects.filter(pk=OuterRef("job_id")).values("process_id")[:1]
    calls: Any = Call.objects.for_batch()
    calls = calls.filter(kind=model._meta.label, job_id__in=jobs.values("pk"))
    calls = calls.order_by().annotate(process=Subquery(mine))
    return calls.values("process", "batch_id", "provider").annotate(many=Count("pk"))


def _unsent_at(where: Standing | str) -> str:
    """The provider, if these calls are not sent yet: then it may hold them up."""
    if isinstance(where, str):
        return where
    return "" if where.batch.create_sent_at else where.batch.provider


def _texts(course: Course, in_batches: Found, held_up: dict[str, str]) -> Iterator[str]:
    if course.running:
        yield _("running: %s") % shown.number(course.running)
    for where, number in in_batches:
        yield _text(where, number)
    for where, _number in in_batches:
        if why := held_up.get(name := _unsent_at(where)):
            yield f"{name}: {why}"


def _text(where: Standing | str, number: int) -> str:
    """Where its calls are. A batch may have calls of other processes too."""
    facts = {"number": shown.number(number)}
    if isinstance(where, str):
        text = ngettext(
            "%(number)s call waits for the next batch at %(provider)s",
            "%(number)s calls wait for the next batch at %(provider)s",
            number,
        )
        return text % {**facts, "provider": where}
    if number >= where.size:
        return where.text
    return _("%(number)s of its calls: %(batch)s") % {**facts, "batch": where.text}


def _find_rest(courses: dict[UUID, Course]) -> None:
    """What open processes wait for that no batch and no provider holds up."""
    idle = [id for id, course in courses.items() if not course.is_due]
    starts = _starts(idle)
    fresh = Process.objects.in_bulk(idle)  # their last jobs may have ended just now
    for id, course in courses.items():
        if course.is_due:
            rest = _("its jobs wait for their turn")
        elif id in starts:
            start = shown.moment(min(starts[id]))
            rest = _("its next job starts at %s at the earliest") % start
        else:
            rest = _without_jobs(fresh.get(id, course.process))
        course.waits = [rest] if rest else []


def _starts(ids: list[UUID]) -> dict[UUID, list[datetime]]:
    """When the first queued job of each of these processes may start, by kind of job."""
    starts: dict[UUID, list[datetime]] = defaultdict(list)
    for model in job_models() if ids else ():
        first = Subquery(_queued(model).order_by("run_after").values("run_after")[:1])
        rows = Process.objects.filter(pk__in=ids).annotate(first=first)
        for id, start in rows.exclude(first=None).values_list("pk", "first"):
            starts[id].append(start)
    return starts


def _without_jobs(process: Process) -> str:
    if process.ended_at or not process.open:
        return "" if process.sealed else _("more jobs may be added")
    if any(model.objects.filter(process_id=process.pk).living().exists() for model in job_models()):
        return _("its jobs wait for their turn")  # one was claimed just now
    return _("its open jobs no longer exist")  # deleted by plain SQL, and so not counted


def waiting_calls(process: Process) -> list[CallQuerySet]:
    """The calls of its jobs that can be made at once, one queryset per kind of job."""
    return [
        batches.hurriable(
            Call.objects.filter(
                kind=model._meta.label,
                job_id__in=model.objects.filter(process_id=process.pk).values("pk"),
            )
        )
        for model in job_models()
    ]


@dataclass(frozen=True)
class Kind:
    """The jobs of one kind that belong to a process."""

    model: type[Job]
    numbers: dict[Status, Number]

    @property
    def name(self) -> str:
        return capfirst(str(self.model._meta.verbose_name_plural))

    @property
    def total(self) -> Number:
        return Number(sum(map(int, self.numbers.values())))


def kinds(process: Process) -> list[Kind]:
    """Its jobs that still exist, by kind and status, in one query."""
    numbers = counting.counts(
        {
            (model, status): model.objects.filter(process_id=process.pk, status=status)
            for model in job_models()
            for status in Status
        }
    )
    found = [Kind(model, {s: numbers[model, s] for s in Status}) for model in job_models()]
    return [kind for kind in found if kind.total]
