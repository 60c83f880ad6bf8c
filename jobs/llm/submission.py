"""Submitting requests: a process and its jobs, in the caller's transaction."""

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from django.db import transaction

from jobs import queue
from jobs.llm import requests as checks
from jobs.llm.models import LLMJob
from jobs.models import Job, Process, uuid7
from jobs.queue import processes
from jobs.tracing import logged

# Of one INSERT: no statement and no list in memory grows with the submission.
MOST_ROWS = 1_000
MOST_BYTES = 8 * 1024 * 1024


@logged
@transaction.atomic
def submit(
    requests: Iterable[dict[str, Any]],
    *,
    label: object,
    process_id: UUID | str | None = None,
    then: Job | None = None,
) -> Process:
    """Enqueue these requests as one process, or add them to one that has not ended.

    `then` is a job that is enqueued when the last request has ended. A request that is not valid
    raises InvalidRequest, and nothing of the submission is kept.
    """
    id = uuid7() if process_id is None else as_uuid(process_id)
    process, is_new = processes.join_or_start(id, label, then=then)
    position = process.total
    for rows in _chunks(requests):
        queue.enqueue(
            LLMJob(process_id=process.pk, position=place, request_json=request)
            for place, request in enumerate(rows, position)
        )
        position += len(rows)
    if is_new:
        processes.seal(process)
    else:
        process.refresh_from_db()
    return process


def _chunks(requests: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    size = 0
    for number, request in enumerate(requests):
        kept, bytes_of_it = checks.checked(request, f"requests[{number}]")
        if len(rows) == MOST_ROWS or (rows and size + bytes_of_it > MOST_BYTES):
            yield rows
            rows, size = [], 0
        rows.append(kept)
        size += bytes_of_it
    if rows:
        yield rows


def as_uuid(process_id: UUID | str) -> UUID:
    """The id of a process, which callers may keep as text."""
    if isinstance(process_id, UUID):
        return process_id
    try:
        return UUID(process_id)
    except (ValueError, AttributeError, TypeError) as error:
        raise ValueError(f"process_id: {process_id!r} is no UUID") from error
