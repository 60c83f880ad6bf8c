"""What there is to do: one query for many kinds of job, sent by every worker at every poll."""

import logging
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from django.db import Error, connection
from django.db.models import QuerySet

from jobs.db import clock, faults, sessions
from jobs.models import Job, Worker
from jobs.queue.front import Front

log = logging.getLogger(__name__)

Model = type[Job]
Query = tuple[str, tuple[Any, ...]]  # SQL and its parameters
Question = tuple[Model, str, Query]  # about this model, for this list of what was found


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
    found = _ask_all(questions, worker, is_partial=True)
    # The last look from the beginning found due jobs, and no claim has come to their end since.
    known = [model for model, front in fronts.items() if front.is_resting and not front.since]
    found.due = list(dict.fromkeys([*known, *found.due]))
    return found


@cache  # compiling takes several times as long as asking
def _questions(model: Model) -> list[Question]:
    due, expired = model.objects.due(), model.objects.expired()
    return [
        # Not EXISTS: it has no order, so it reads the whole table when no job is due.
        (model, "due", _compiled("({})", due.trusted().in_turn().values("id")[:1])),
        (model, "suspect", _compiled("EXISTS({})", due.suspect().order_by().values("id"))),
        (
            model,
            "expired",
            _compiled("EXISTS({})", expired.order_by().values("id")),
        ),
    ]


def _due_from(model: Model, front: Front) -> list[Question]:
    if not front.is_resting:
        return _questions(model)[:1]
    due = model.objects.due().trusted().in_turn().values("id")
    return [(model, "due", _compiled("({})", due.filter(each)[:1])) for each in front.conditions]


def _compiled(form: str, jobs: QuerySet[Any]) -> Query:
    sql, parameters = jobs.query.sql_with_params()
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
    for model in dict.fromkeys(model for model, _, _ in questions):
        try:
            ours = [question for question in questions if question[0] is model]
            found.add(_ask(ours, worker, is_partial))
        except Error as error:
            if faults.is_servers(error) or faults.is_lost():
                raise
            log.warning("%s can't be asked: %s", model._meta.label, error)
            found.out_of_reach.append(model)
    return found


def _ask(questions: list[Question], worker: str, is_partial: bool) -> Found:
    me = Worker.objects.filter(name=worker).values("asked_to_stop")  # no row before its first beat
    queries = [query for _, _, query in questions]
    queries += [(f"({clock.NOW[connection.vendor]})", ()), _compiled("({})", me)]
    parameters = [value for _, values in queries for value in values]
    began_at = time.monotonic()
    with (
        sessions.short_transaction(),
        sessions.in_order_of_index(when=is_partial),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"SELECT {', '.join(sql for sql, _ in queries)}", parameters)
        *answers, now, should_stop = cursor.fetchone()
    seconds = time.monotonic() - began_at
    found = Found(should_stop=bool(should_stop), seconds=seconds, now=clock.aware(now))
    for (model, what, _), answer in zip(questions, answers, strict=True):
        if answer:
            getattr(found, what).append(model)
    return found
