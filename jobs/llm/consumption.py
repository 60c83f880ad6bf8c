"""What a process has brought: looked at, taken away, or no longer wanted."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from jobs import queue
from jobs.llm.models import LLMJob
from jobs.llm.submission import as_uuid
from jobs.models import Process, job_models
from jobs.queue import processes
from jobs.tracing import logged, logged_block

log = logging.getLogger(__name__)


@logged
def results(process_id: UUID | str) -> list[LLMJob]:
    """The requests that have ended, in any way, in the order of their submission."""
    return list(_ended(process_id).order_by("position", "id"))


@contextmanager
def consume(process_id: UUID | str) -> Iterator[list[LLMJob]]:
    """Take the results: their rows are deleted in the consumer's transaction.

    If the block raises, they stay. Rows that another consumer has taken are skipped. What the
    block itself requeued is kept.
    """
    with transaction.atomic(), logged_block(log, "consume", process_id) as told:
        taken = list(_ended(process_id).order_by("id").select_for_update(skip_locked=True))
        taken.sort(key=lambda job: job.position)
        told["taken"] = len(taken)
        yield taken
        if taken:
            LLMJob.objects.with_ids([job.id for job in taken]).ended().delete()


@logged
def progress(process_id: UUID | str) -> Process:
    """The counts of a process: one read, however many jobs it has."""
    try:
        return Process.objects.get(pk=as_uuid(process_id))
    except Process.DoesNotExist:
        raise Process.DoesNotExist(f"There is no process {process_id}.") from None


@logged
def cancel(process_id: UUID | str, *, by: object = "a program") -> int:
    """Cancel all its jobs that have not ended, of any kind; returns their number."""
    id = as_uuid(process_id)
    living = [model.objects.filter(process_id=id).living() for model in job_models()]
    reason = "Canceled with its process."
    canceled = sum(len(queue.cancel(jobs, reason, by)) for jobs in living if jobs.exists())
    processes.recount(id)
    return canceled


def _ended(process_id: UUID | str) -> QuerySet[LLMJob]:
    ended: QuerySet[LLMJob] = LLMJob.objects.filter(process_id=as_uuid(process_id)).ended()  # type: ignore[assignment]
    return ended
