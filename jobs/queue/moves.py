"""The moves that are allowed, and the only functions that write `status`.

A move locks its rows in the order of their ids; a claim locks them in turn, and steps past those
that are locked. It checks that their status and epoch are as it expects, and only then writes.
Hooks and history share its transaction.
"""

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models.functions import Now

from jobs.db import compiled, sessions
from jobs.db.sessions import Patience
from jobs.models import ENDED, Job, JobQuerySet, Status
from jobs.tracing import logged

MOVES: Mapping[Status, Collection[Status]] = {
    Status.QUEUED: {Status.PROCESSING, Status.CANCELED},
    Status.PROCESSING: {Status.SUCCEEDED, Status.FAILED, Status.QUEUED, Status.CANCELED},
    Status.SUCCEEDED: {Status.QUEUED},
    Status.FAILED: {Status.QUEUED},
    Status.CANCELED: {Status.QUEUED},
}
NOT_HELD = {"locked_at": None, "locked_by": None, "lease_expires_at": None}
CHUNK = 500


def move(jobs: JobQuerySet, to: Status, **columns: Any) -> int:
    """Write the status of jobs with these ids, along MOVES only, and what follows from it."""
    return _before(jobs, to).update(**_after(to), **columns)


def compiled_move(jobs: JobQuerySet, to: Status, **columns: Any) -> compiled.Statement:
    """The same as a statement, for moves that are often made. Its caller caches it."""
    return compiled.update(_before(jobs, to), **_after(to), **columns)


def compiled_taking(rows: JobQuerySet, to: Status, **columns: Any) -> compiled.Returning:
    """The same for the first of these rows, found, locked and moved by one statement."""
    found = rows.model.objects.with_ids(compiled.ids_of_first(rows))
    return compiled.Returning(rows.model, compiled_move(found, to, **columns))


def _before(jobs: JobQuerySet, to: Status) -> JobQuerySet:
    return jobs.still(*[status for status in Status if to in MOVES[status]])


def _after(to: Status) -> dict[str, Any]:
    held = {} if to == Status.PROCESSING else NOT_HELD
    ended = {"finished_at": Now(), "unique_key": None} if to in ENDED else {"finished_at": None}
    return {"status": to, "updated_at": Now(), **ended, **held}


# processing -> processing, with a longer lease


@logged
def beat(model: type[Job], claims: Mapping[UUID, int], worker: str, lease: timedelta) -> set[UUID]:
    """Extend the leases of these claims (id: epoch); returns the ids still held by this worker.

    It does not wait for a locked row: meanwhile the other leases could run out.
    """
    with sessions.short_transaction(Patience(locks=lease / 8, statements=lease / 4)):
        rows = model.objects.with_ids(claims).still(Status.PROCESSING).filter(locked_by=worker)
        free = rows.order_by("id").select_for_update(skip_locked=True)
        ours = {id for id, epoch in free.values_list("id", "epoch") if claims[id] == epoch}
        rows.with_ids(ours).update(lease_expires_at=Now() + lease)
        if len(ours) < len(claims):
            ours = {id for id, epoch in rows.values_list("id", "epoch") if claims[id] == epoch}
    return ours
