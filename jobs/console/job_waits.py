"""What the jobs of a list wait for, with a bounded number of queries for all of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from jobs.console import batches, sentences, shown
from jobs.models import Call, Provider, State, Status
from jobs.paid import waiting
from jobs.paid.batches import queries
from jobs.paid.batches.models import Batch
from jobs.paid.waiting import Wait


@dataclass(frozen=True)
class BatchWait:
    """Its call is made in a batch; read like a `waiting.Wait`."""

    text: str
    note: str = ""


def of(jobs: Iterable[Any], provider: Provider | None) -> dict[UUID, Wait | BatchWait | None]:
    """What each of these jobs of one kind waits for; None if it runs or has ended."""
    jobs = list(jobs)
    batched = in_batches(jobs)
    queued = [job for job in jobs if job.status == Status.QUEUED]
    pause = waiting.pause_of(type(queued[0])) if queued else None
    note = full_text(waiting.paused(pause)) if pause else ""
    return {
        job.pk: BatchWait(batched[job.pk], note)
        if job.pk in batched
        else waiting.waits_for(job, provider, pause)
        for job in jobs
    }


def full_text(wait: Wait | BatchWait) -> str:
    """What it waits for, and what a person said about it."""
    return f"{wait.text}: {sentences.told(wait.note)}" if wait.note else wait.text


def in_batches(jobs: Iterable[Any]) -> dict[UUID, str]:
    """For those of these jobs whose call is made in a batch: since when."""
    calls = queries.of_jobs([job for job in jobs if job.status == Status.QUEUED])
    waiting = {id: call for id, call in calls.items() if call.state == State.WAITING}
    sent = {id: call for id, call in calls.items() if id not in waiting}
    return {**_not_sent(waiting), **_sent(sent)}


def _not_sent(calls: dict[UUID, Call]) -> dict[UUID, str]:
    held_up = batches.held_up({call.provider for call in calls.values()})
    return {id: _waits(call, held_up.get(call.provider, "")) for id, call in calls.items()}


def _sent(calls: dict[UUID, Call]) -> dict[UUID, str]:
    usual = {name: _usual(name) for name in {call.provider for call in calls.values()}}
    ids = {call.batch_id for call in calls.values() if call.batch_id}
    rows: Any = Batch.objects.filter(pk__in=ids).values_list("pk", "submitted_at") if ids else []
    submitted = dict(rows)
    return {
        id: _in_batch(submitted.get(call.batch_id) or call.started_at, usual[call.provider])
        for id, call in calls.items()
    }


def _usual(provider: str) -> str:
    seconds = queries.usual_seconds(provider)
    return "" if seconds is None else shown.short(timedelta(seconds=seconds))


def _waits(call: Call, held_up: str) -> str:
    text = _("waits for a batch since %(since)s") % {"since": shown.moment(call.started_at)}
    return f"{text} – {call.provider}: {held_up}" if held_up else text


def _in_batch(since: datetime, usual: str) -> str:
    facts = {"since": shown.moment(since), "time": usual}
    if usual:
        return _("in a batch since %(since)s, usually done within %(time)s") % facts
    return _("in a batch since %(since)s, usually done within a day") % facts
