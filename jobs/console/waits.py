"""What the jobs of a list wait for, with a bounded number of queries for all of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from jobs.console import shown
from jobs.models import Call, Provider, State, Status
from jobs.paid import waiting
from jobs.paid.batches import queries
from jobs.paid.waiting import Wait


@dataclass(frozen=True)
class BatchWait:
    """Its call is made in a batch; read like a `waiting.Wait`."""

    text: str
    note: str = ""


def of(jobs: Iterable[Any], provider: Provider | None) -> dict[UUID, Wait | BatchWait | None]:
    """What each of these jobs waits for; None if it runs or has ended."""
    jobs = list(jobs)
    batched = in_batches(jobs)
    return {
        job.pk: BatchWait(batched[job.pk])
        if job.pk in batched
        else waiting.waits_for(job, provider)
        for job in jobs
    }


def in_batches(jobs: Iterable[Any]) -> dict[UUID, str]:
    """For those of these jobs whose call is made in a batch: since when."""
    calls = queries.of_jobs([job for job in jobs if job.status == Status.QUEUED])
    usual = {name: _usual(name) for name in {call.provider for call in calls.values()}}
    return {id: _in_batch(call, usual[call.provider]) for id, call in calls.items()}


def _usual(provider: str) -> str:
    seconds = queries.usual_seconds(provider)
    return "" if seconds is None else shown.short(timedelta(seconds=seconds))


def _in_batch(call: Call, usual: str) -> str:
    facts = {"since": shown.moment(call.started_at), "time": usual}
    if call.state == State.WAITING:
        return _("waits for a batch since %(since)s") % facts
    if usual:
        return _("in a batch since %(since)s, usually done within %(time)s") % facts
    return _("in a batch since %(since)s, usually done within a day") % facts
