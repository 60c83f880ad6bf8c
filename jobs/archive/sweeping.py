"""Deleting rows that have served their time: each kind by its age, in chunks by primary key."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from jobs import queue
from jobs.archive import ages as limits
from jobs.archive.ages import Ages
from jobs.db import sessions
from jobs.events.models import EventJob
from jobs.llm.models import LLMJob
from jobs.models import Cooldown, Event, Process, Worker, job_models
from jobs.queue import totals
from jobs.tracing import logged

GoOn = Callable[[], bool]
CHUNK = 500


def sweeps(ages: Ages) -> Iterator[tuple[str, Any]]:
    """The rows that leave, by the name of their count."""
    if ages.events:
        yield "events", processed_events(ages)
    if ages.llm:
        yield "llm_requests", unconsumed_requests(ages)
    yield "workers", Worker.objects.filter(lease_expires_at__lt=Now() - limits.WORKERS)
    yield "cooldowns", Cooldown.objects.filter(until__lt=Now())
    for model in job_models():
        if model.is_housekeeping:
            old = model.objects.ended().filter(finished_at__lt=Now() - limits.HOUSEKEEPING)
            yield model._meta.label, old


def processed_events(ages: Ages) -> Any:
    """Not those whose job a person has requeued."""
    living: Any = EventJob.objects.filter(event_id=OuterRef("pk"))
    return Event.objects.filter(~Exists(living.living()), processed_at__lt=ages.events)


def unconsumed_requests(ages: Ages) -> Any:
    """Ended requests that nobody has taken, of processes that have ended as long ago."""
    open_process = Process.objects.filter(
        Q(ended_at=None) | Q(ended_at__gte=ages.llm), pk=OuterRef("process_id")
    )
    return LLMJob.objects.filter(~Exists(open_process), finished_at__lt=ages.llm).ended()


def sweep(ages: Ages, go_on: GoOn) -> dict[str, int]:
    """Delete everything of these; returns how many rows of each."""
    done: dict[str, int] = {}
    for name, old in sweeps(ages):
        done[name] = _sweep(old, go_on)
    done["totals"] = totals.compact(go_on)
    return done


def _sweep(old: Any, go_on: GoOn) -> int:
    number = 0
    while go_on():
        deleted = delete_chunk(old)
        number += deleted
        if deleted < CHUNK:
            break
    return number


@queue.repeated
@logged
def delete_chunk(old: Any) -> int:
    """Lock some rows that nobody else has locked, and delete them; returns how many.

    The condition holds for the locked rows: PostgreSQL checks it again after locking.
    """
    with sessions.short_transaction():
        free = old.order_by("pk").select_for_update(skip_locked=True)
        pks = list(free.values_list("pk", flat=True)[:CHUNK])
        rows = old.model.objects.filter(pk__in=_without_jobs(pks) if old.model is Event else pks)
        deleted: dict[str, int] = rows.delete()[1]
    return deleted.get(old.model._meta.label, 0)


def _without_jobs(events: list[UUID]) -> list[UUID]:
    """Delete the ended jobs of these events; returns the events that have none any more.

    Their history stays, and leaves like that of any deleted job.
    """
    jobs: Any = EventJob.objects.filter(event_id__in=events)
    free = jobs.ended().order_by("id").select_for_update(skip_locked=True)
    jobs.with_ids(list(free.values_list("id", flat=True))).delete()
    busy = set(jobs.values_list("event_id", flat=True))
    return [id for id in events if id not in busy]
