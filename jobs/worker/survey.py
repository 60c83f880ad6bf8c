"""What there is to do: one query for all kinds of job, sent by every worker at every poll."""

import logging
from collections.abc import Collection
from dataclasses import dataclass, field

from django.db import Error
from django.db.models import Exists, Subquery

from jobs.db import faults, sessions
from jobs.models import Job, Worker

log = logging.getLogger(__name__)

Model = type[Job]


@dataclass
class Found:
    """The models with jobs that are due, must run alone, or lost their worker."""

    due: list[Model] = field(default_factory=list)
    suspect: list[Model] = field(default_factory=list)
    expired: list[Model] = field(default_factory=list)
    out_of_reach: list[Model] = field(default_factory=list)  # could not be queried
    is_guess: bool = False  # before its first beat a worker has no row to ask by
    should_stop: bool = False  # a person asked this worker to stop

    def add(self, other: "Found") -> None:
        self.due += other.due
        self.suspect += other.suspect
        self.expired += other.expired
        self.should_stop |= other.should_stop
        self.is_guess |= other.is_guess


def ask(models: Collection[Model], worker: str) -> Found:
    """Query all models at once; if a table is locked or broken, each model by itself."""
    try:
        return _ask(models, worker)
    except Error as error:
        if faults.is_servers(error) or faults.is_lost():
            raise
    found = Found()
    for model in models:
        try:
            found.add(_ask([model], worker))
        except Error as error:
            if faults.is_servers(error) or faults.is_lost():
                raise
            log.warning("%s can't be asked: %s", model._meta.label, error)
            found.out_of_reach.append(model)
    return found


def _ask(models: Collection[Model], worker: str) -> Found:
    questions: dict[tuple[Model, str], Subquery] = {}
    for model in models:
        due = model.objects.due()
        # Not EXISTS: it has no order, so it reads the whole table when no job is due.
        questions[model, "due"] = Subquery(due.trusted().in_turn().values("id")[:1])
        questions[model, "suspect"] = Exists(due.suspect())
        questions[model, "expired"] = Exists(model.objects.expired())
    if not questions:
        return Found()
    with sessions.short_transaction():
        me = Worker.objects.filter(name=worker).order_by()
        row = me.values_list(*questions.values(), "asked_to_stop").first()
    if row is None:  # no row before the worker's first beat: every model is worth a try
        return Found(due=list(models), expired=list(models), is_guess=True)
    *answers, should_stop = row
    found = Found(should_stop=should_stop)
    for (model, what), answer in zip(questions, answers, strict=True):
        if answer:
            getattr(found, what).append(model)
    return found
