"""The history: one row per claim, inserted by the move that ends it and never changed."""

import logging
from collections import defaultdict
from functools import cache
from uuid import UUID

from django.db.models import Exists, JSONField, OuterRef, TextField, Value
from django.db.models.functions import Cast

from jobs.db import compiled
from jobs.db.lookups import Blank
from jobs.models import Attempt, Job
from jobs.queue.outcomes import End, Facts

log = logging.getLogger(__name__)


def record(model: type[Job], ends: list[End]) -> dict[str, list[UUID]]:
    """Copy worker and start of these claims from their rows, which are locked and not moved yet.

    One INSERT ... SELECT for all that ended alike: no data travels to Python and back. Returns
    the jobs whose claims are now in the history, by outcome.
    """
    recorded: dict[str, list[UUID]] = defaultdict(list)
    alike: dict[Facts, list[UUID]] = defaultdict(list)
    for end in ends:
        alike[end.as_history()].append(end.job.id)
    for facts, ids in alike.items():
        insert = _insert if any(facts[1:]) else _insert_often  # errors and steps differ each time
        if insert(model, facts).execute(ids) < len(ids):
            # Only after a failover that lost commits: an earlier claim had the same epoch.
            log.error("%s: history has ends of these claims already: %s", model, ids)
            ids = _written(model, ids)
        recorded[facts[0]] += ids
    return recorded


def _insert(model: type[Job], facts: Facts) -> compiled.Statement:
    outcome, error, error_class, traceback, steps = facts
    claims = model.objects.with_ids(Blank.IDS).values_list(
        "id",
        _text(model._meta.label),
        "epoch",
        "locked_by",
        "locked_at",
        _text(outcome),
        _text(error),
        _text(error_class),
        _text(traceback),
        Cast(_text(steps), JSONField()),
    )
    select, parameters = claims.query.sql_with_params()
    insert = (
        f"INSERT INTO {Attempt._meta.db_table} (job_id, kind, epoch, worker, started_at,"
        f" outcome, error, error_class, traceback, steps) {select} ON CONFLICT DO NOTHING"
    )
    return compiled.Statement(insert, parameters)


_insert_often = cache(_insert)


def _written(model: type[Job], ids: list[UUID]) -> list[UUID]:
    """Those of these jobs whose claim, and no other with its epoch, is in the history."""
    ours = Attempt.objects.filter(
        job_id=OuterRef("id"),
        epoch=OuterRef("epoch"),
        worker=OuterRef("locked_by"),
        started_at=OuterRef("locked_at"),
    )
    return list(model.objects.with_ids(ids).filter(Exists(ours)).values_list("id", flat=True))


def _text(value: str | None) -> Value:
    return Value(value, TextField())
