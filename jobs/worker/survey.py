"""What is there to do? One query for all kinds of job, asked by every worker at every poll."""

from collections.abc import Iterable

from django.db.models import Exists, Subquery

from jobs.db import sessions
from jobs.models import Job, Worker

Answers = dict[tuple[type[Job], str], object]


def ask(models: Iterable[type[Job]], worker: str) -> tuple[Answers, bool]:
    """Of each model: is a job due, is a suspect due, and has a lease expired?

    And has a person asked this worker to stop?
    """
    questions: dict[tuple[type[Job], str], Subquery] = {}
    for model in models:
        due = model.objects.due()
        # Not EXISTS: without an order it reads the whole table when nothing is due.
        questions[model, "due"] = Subquery(due.trusted().in_turn().values("id")[:1])
        questions[model, "suspect"] = Exists(due.suspect())
        questions[model, "expired"] = Exists(model.objects.expired())
    if not questions:
        return {}, False
    with sessions.short_transaction():
        me = Worker.objects.filter(name=worker).order_by()
        row = me.values_list(*questions.values(), "asked_to_stop").first()
    # Before its first beat a worker has no row: then it is worth a try.
    unknown = [what != "suspect" for _, what in questions]
    *answers, should_stop = row or (*unknown, False)
    return dict(zip(questions, answers, strict=True)), bool(should_stop)
