"""Successes from which nothing else follows: checked, noted, counted and moved by one statement.

Most ends of quick jobs are such. `settling` writes whatever this leaves, step by step: other ends,
and claims whose rows are locked, gone, or in the history already.
"""

from collections import defaultdict
from contextlib import suppress
from functools import cache
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection
from django.db.models import TextField, Value
from django.db.models.expressions import RawSQL

from jobs.db import compiled, sessions
from jobs.db.lookups import Blank
from jobs.models import Attempt, Job, Outcome, Status, Total
from jobs.queue import totals
from jobs.queue.moves import compiled_move
from jobs.queue.outcomes import SUCCESS, End

Alike = dict[UUID, End]  # ends of claims with the same epoch, by job


def settle(ends: list[End]) -> list[End]:
    """Write the successes among the ends of one model; returns the ends that are not written."""
    if _can_be_one_statement(type(ends[0].job)):
        for (epoch, worker), alike in _plain_successes(ends).items():
            # A constraint refuses one of them: all are left, and `settling` finds which one.
            with suppress(IntegrityError):
                _settle(alike, epoch, worker)
    return [end for end in ends if not end.is_written]


def _can_be_one_statement(model: type[Job]) -> bool:
    """Only PostgreSQL has statements that write several tables."""
    has_hook = model.on_success is not Job.on_success
    return connection.vendor == "postgresql" and not (has_hook or connection.in_atomic_block)


def _plain_successes(ends: list[End]) -> dict[tuple[int, str | None], Alike]:
    found: dict[tuple[int, str | None], Alike] = defaultdict(dict)
    for end in ends:
        job = end.job
        is_plain = end.outcome is Outcome.SUCCEEDED and not end.steps and job.process_id is None
        if is_plain and not end.is_written:
            # One end per job: a failover can let a worker end the same claim twice.
            found[job.epoch, job.locked_by].setdefault(job.id, end)
    return found


def _settle(alike: Alike, epoch: int, worker: str | None) -> None:
    model = type(next(iter(alike.values())).job)
    with sessions.short_statement():
        rows = _statement(model).rows(alike, EPOCH=epoch, WORKER=worker)
    for (id,) in rows:
        alike[id].moved_to = Status.SUCCEEDED
        alike[id].is_written = True


@cache
def _statement(model: type[Job]) -> compiled.Statement:
    held, counted = _claims(model), compiled.Select(totals.of_attempts())
    noted = RawSQL("SELECT job_id FROM noted", [])
    moved = compiled_move(model.objects.with_ids(noted), Status.SUCCEEDED, **SUCCESS)
    attempts = Attempt._meta.db_table
    of_noted = counted.sql.replace(f'FROM "{attempts}"', f'FROM noted AS "{attempts}"')
    if of_noted == counted.sql:
        raise RuntimeError(f"This would count the whole history: {counted.sql}")
    sql = f"""
        WITH held (job_id, epoch, worker, started_at, kind, outcome) AS MATERIALIZED ({held.sql}),
        noted AS (
            INSERT INTO {attempts} (job_id, epoch, worker, started_at, kind, outcome)
            SELECT * FROM held RETURNING job_id, kind, outcome, started_at, ended_at
        ),
        counted AS (
            INSERT INTO {Total._meta.db_table} (kind, outcome, day, number, milliseconds) {of_noted}
        ),
        moved AS ({moved.sql})
        SELECT job_id FROM noted"""  # noqa: S608 (no value)
    return compiled.Statement(sql, (*held.parameters, *counted.parameters, *moved.parameters))


def _claims(model: type[Job]) -> compiled.Statement:
    """The claims that are still held by this worker, with what is to be kept of each."""
    claims: Any = model.objects.with_ids(Blank.IDS).still(Status.PROCESSING)
    ours = claims.filter(
        epoch=Value(Blank.EPOCH), locked_by=Value(Blank.WORKER), process_id__isnull=True
    )
    kept = ours.order_by("id").values_list(
        *("id", "epoch", "locked_by", "locked_at"),
        Value(model._meta.label, TextField()),
        Value(Outcome.SUCCEEDED.value, TextField()),
    )
    return compiled.Select(kept.select_for_update(skip_locked=True))
