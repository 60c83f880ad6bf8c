"""What the console says about processes: how far they are, and what they wait for."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Now
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from jobs.console import batches, counting, shown
from jobs.console.batches import Standing
from jobs.console.counting import Number
from jobs.db import clock
from jobs.models import Call, Job, Process, State, Status, job_models
from jobs.paid import limits, waiting
from jobs.paid.batches.models import Batch

MOST_WAITS = 3  # texts in one row of a list
IN_BATCH = Q(state=State.WAITING) | Q(state=State.INTENT, batch_id__isnull=False)


@dataclass
class Course:
    """A process at one moment, and what its open jobs wait for."""

    process: Process
    now: datetime
    running: int = 0
    due: int = 0
    later: int = 0  # not before a moment: a retry, or a call in a batch
    in_batches: int = 0
    waits: list[str] = field(default_factory=list)

    @property
    def time(self) -> str:
        """How long it took, or since when it is open."""
        return shown.short((self.process.ended_at or self.now) - self.process.created_at)

    @property
    def has_failures(self) -> bool:
        return bool(self.process.failed)

    @property
    def state(self) -> str:
        process = self.process
        if process.ended_at is None:
            return pgettext("process", "open")
        if process.failed:
            return _("ended, with failures")
        return _("ended, with canceled jobs") if process.canceled else _("ended")

    @property
    def colour(self) -> str:
        process = self.process
        if process.failed:
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
        return follows(self.process)


def follows(process: Process) -> str:
    """The kind of job that follows; empty if none does."""
    kept = process.follow if isinstance(process.follow, dict) else {}
    name = str(kept.get("model", ""))
    known = {model._meta.label_lower: model for model in job_models()}
    return str(known[name]._meta.verbose_name) if name in known else name


def look(rows: Iterable[Process]) -> list[Course]:
    """These processes with what they wait for: a few queries per kind of job, for all of them."""
    now = clock.now()
    courses = [Course(process, now) for process in rows]
    living = {course.process.pk: course for course in courses if not course.process.ended_at}
    if living:
        _find_waits(living)
    return courses


def _find_waits(courses: dict[UUID, Course]) -> None:
    closed: dict[UUID, list[str]] = defaultdict(list)
    for model in job_models():
        due = _count(model, courses)
        for id, text in _closed(model, due):
            closed[id].append(text)
    in_batches = _in_batches(courses)
    for id, course in courses.items():
        course.in_batches = sum(number for _, number in in_batches[id])
        course.waits = [*_texts(course, in_batches[id]), *closed[id]]
        if not course.waits:
            course.waits = [_rest(course)]


def _count(model: type[Job], courses: dict[UUID, Course]) -> list[UUID]:
    """Count open jobs of one kind; returns the processes with due ones."""
    is_later = Q(status=Status.QUEUED, run_after__gt=Now())
    rows = model.objects.filter(process_id__in=list(courses)).living().order_by()
    found: Any = rows.values("process_id").annotate(
        running=Count("pk", filter=Q(status=Status.PROCESSING)),
        later=Count("pk", filter=is_later),
        number=Count("pk"),
    )
    has_due = []
    for row in found:
        course = courses[row["process_id"]]
        due = row["number"] - row["running"] - row["later"]
        course.running += row["running"]
        course.later += row["later"]
        course.due += due
        if due:
            has_due.append(row["process_id"])
    return has_due


def _closed(model: type[Job], ids: list[UUID]) -> Iterator[tuple[UUID, str]]:
    """Why due jobs of this kind don't start: a pause, a budget, a price."""
    name = model.provider_name() if ids else None
    wait = waiting.closed(limits.find(name)) if name else None
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
    rows: Any = Batch.objects.filter(pk__in=ids) if ids else []
    known = {each.batch.pk: each for each in batches.look(rows, clock.now())}
    for process, batch_id, provider, number in groups:
        found[process].append((known.get(batch_id) or provider, number))
    return found


def _calls(model: type[Job], ids: Collection[UUID]) -> Any:
    jobs = model.objects.filter(process_id__in=list(ids))
    mine = model.objects.filter(pk=OuterRef("job_id")).values("process_id")[:1]
    calls: Any = Call.objects.filter(IN_BATCH, kind=model._meta.label, job_id__in=jobs.values("pk"))
    calls = calls.order_by().annotate(process=Subquery(mine))
    return calls.values("process", "batch_id", "provider").annotate(many=Count("pk"))


def _texts(course: Course, in_batches: Found) -> Iterator[str]:
    if course.running:
        yield _("running: %s") % shown.number(course.running)
    for where, number in in_batches:
        if isinstance(where, Standing):
            yield where.text
        else:
            facts = {"number": shown.number(number), "provider": where}
            yield _("%(number)s calls wait for the next batch at %(provider)s") % facts


def _rest(course: Course) -> str:
    """What an open process waits for that no batch and no provider holds up."""
    if course.due:
        return _("its jobs wait for their turn")
    if course.later:
        return _("its jobs wait for their next retry")
    if not course.process.sealed:
        return _("more jobs may be added")
    return _("its open jobs no longer exist")  # deleted by plain SQL, and so not counted


def waiting_calls(process: Process) -> list[Any]:
    """The calls of its jobs that wait for a batch, one queryset per kind of job."""
    return [
        Call.objects.filter(
            state=State.WAITING,
            kind=model._meta.label,
            job_id__in=model.objects.filter(process_id=process.pk).values("pk"),
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
