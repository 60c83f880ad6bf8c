"""What there is to do: one query for many kinds of job, sent by every worker at every poll."""

import logging
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

from django.db import Error, connection
from django.db.models import QuerySet

from jobs.db import clock, faults, sessions
from jobs.models import Job, Pause, Worker
from jobs.queue.front import Front

log = logging.getLogger(__name__)

SINCE = datetime.min.replace(tzinfo=UTC)  # stands for the moment where a front is

Model = type[Job]


class Question(NamedTuple):
    """A part of the query: the answer adds the model to one of the lists of `Found`."""

    model: Model
    found: str
    sql: str
    parameters: tuple[Any, ...]


@dataclass
class Found:
    """The models with jobs that are due, must run alone, or lost their worker."""

    due: list[Model] = field(default_factory=list)
    suspect: list[Model] = field(default_factory=list)
    expired: list[Model] = field(default_factory=list)
    out_of_reach: list[Model] = field(default_factory=list)  # could not be queried
    should_stop: bool = False  # a person asked this worker to stop
    seconds: float = 0.0
    now: datetime | None = None  # by the database's clock

    def add(self, other: "Found") -> None:
        self.due += other.due
        self.suspect += other.suspect
        self.expired += other.expired
        self.should_stop |= other.should_stop
        self.seconds += other.seconds
        self.now = self.now or other.now  # the earliest


def ask(models: Collection[Model], worker: str) -> Found:
    """Ask everything about these models, and about all of their jobs."""
    return _ask_all([question for model in models for question in _questions(model)], worker)


def ask_from(fronts: Mapping[Model, Front], worker: str) -> Found:
    """Ask which of these models have due jobs, each from its front on."""
    questions = [question for each in fronts.items() for question in _due_from(*each)]
    is_partial = any(front.is_resting for front in fronts.values())
    found = _ask_all(questions, worker, is_partial)
    # The last look from the beginning found due jobs, and no claim has come to their end since.
    known = [model for model, front in fronts.items() if front.is_resting and not front.since]
    found.due = list(dict.fromkeys([*known, *found.due]))
    return found


@cache  # compiling takes several times as long as asking
def _questions(model: Model) -> list[Question]:
    due, expired = model.objects.ripe(), model.objects.expired()
    return [
        # Not EXISTS: it has no order, so it reads the whole table when no job is due.
        _first(model, due.trusted().in_turn()),
        Question(model, "suspect", *_compiled("EXISTS({})", due.suspect().order_by().values("pk"))),
        Question(model, "expired", *_compiled("EXISTS({})", expired.order_by().values("pk"))),
    ]


def _due_from(model: Model, front: Front) -> list[Question]:
    if not front.is_resting:
        return _questions(model)[:1]
    if front.since and not front.key:  # as for every idle model: worth compiling once
        newer = _due_since(model)
        values = (front.since if value == SINCE else value for value in newer.parameters)
        return [newer._replace(parameters=tuple(values))]
    due = model.objects.ripe().trusted().in_turn()
    return [_first(model, due.filter(condition)) for condition in front.conditions]


@cache
def _due_since(model: Model) -> Question:
    return _first(model, model.objects.ripe().trusted().in_turn().filter(run_after__gte=SINCE))


@cache
def _paused() -> str:
    """The kinds that are paused, asked once: in each question, planning took twice as long."""
    together = {"postgresql": "string_agg", "sqlite": "group_concat"}[connection.vendor]
    sql, _no_parameters = Pause.objects.lasting().values("kind").query.sql_with_params()
    return f"(SELECT {together}(kind, ' ') FROM ({sql}) AS paused)"  # noqa: S608 (no value)


def _first(model: Model, due: QuerySet[Any]) -> Question:
    return Question(model, "due", *_compiled("({})", due.values("pk")[:1]))


def _compiled(form: str, rows: QuerySet[Any]) -> tuple[str, tuple[Any, ...]]:
    sql, parameters = rows.query.sql_with_params()
    return form.format(sql), parameters


def _ask_all(questions: list[Question], worker: str, is_partial: bool = False) -> Found:
    """Query all models at once; if a table is locked or broken, each model by itself."""
    if not questions:
        return Found()
    try:
        return _ask(questions, worker, is_partial)
    except Error as error:
        if faults.is_servers(error) or faults.is_lost():
            raise
    found = Found()
    for model in dict.fromkeys(question.model for question in questions):
        try:
            ours = [question for question in questions if question.model is model]
            found.add(_ask(ours, worker, is_partial))
        except Error as error:
            if faults.is_servers(error) or faults.is_lost():
                raise
            log.warning("%s can't be asked: %s", model._meta.label, error)
            found.out_of_reach.append(model)
    return found


def _ask(questions: list[Question], worker: str, is_partial: bool) -> Found:
    me = Worker.objects.filter(name=worker)  # it has no row before its first beat
    own, parameters_of_own = _compiled("({})", me.values("asked_to_stop"))
    now_sql = clock.NOW[connection.vendor].replace("%", "%%")  # this query has parameters
    selected = [*(question.sql for question in questions), f"({now_sql})", own, _paused()]
    parameters = [value for question in questions for value in question.parameters]
    parameters += parameters_of_own
    began_at = time.monotonic()
    with (
        sessions.short_transaction(),
        sessions.in_order_of_index(when=is_partial),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"SELECT {', '.join(selected)}", parameters)
        *answers, now, should_stop, paused = cursor.fetchone()
    seconds = time.monotonic() - began_at
    found = Found(should_stop=bool(should_stop), seconds=seconds, now=clock.aware(now))
    asleep = set((paused or "").split())
    for question, answer in zip(questions, answers, strict=True):
        if answer and (question.found == "expired" or question.model._meta.label not in asleep):
            getattr(found, question.found).append(question.model)
    return found
