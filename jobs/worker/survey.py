"""What is there to do? One query for all kinds of job, asked by every worker at every poll."""

from collections.abc import Collection
from dataclasses import dataclass, field

from django.db.models import Exists, Subquery

from jobs.db import sessions
from jobs.models import Job, Worker

Model = type[Job]


@dataclass
class Found:
    """The models with jobs that are due, must run alone, or were left behind."""

    due: list[Model] = field(default_factory=list)
    suspect: list[Model] = field(default_factory=list)
    expired: list[Model] = field(default_factory=list)
    should_stop: bool = False  # a person has asked this worker to


def ask(models: Collection[Model], worker: str) -> Found:
    questions: dict[tuple[Model, str], Subquery] = {}
    for model in models:
        due = model.objects.due()
        # Not EXISTS: without an order it reads the whole table when nothing is due.
        questions[model, "due"] = Subquery(due.trusted().in_turn().values("id")[:1])
        questions[model, "suspect"] = Exists(due.suspect())
        questions[model, "expired"] = Exists(model.objects.expired())
    if not questions:
        return Found()
    with sessions.short_transaction():
        me = Worker.objects.filter(name=worker).order_by()
        row = me.values_list(*questions.values(), "asked_to_stop").first()
    if row is None:  # before its first beat a worker has no row: then it is worth a try
        return Found(due=list(models), expired=list(models))
    *answers, should_stop = row
    found = Found(should_stop=should_stop)
    for (model, what), answer in zip(questions, answers, strict=True):
        if answer:
            getattr(found, what).append(model)
    return found
