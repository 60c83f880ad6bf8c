"""The whole story of one job, for the command line: facts for scripts, lines for people."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.translation import gettext

from jobs.archive import reading
from jobs.archive.reading import History
from jobs.console import causes, counting, job_waits, lineage, occasional, shown
from jobs.db import clock
from jobs.models import Attempt, Call, Job
from jobs.paid import limits, money

MOST = 100  # of its attempts, and of its calls


def runs(job: Job, archived: History) -> str:
    """How often it has run, in the words of a page: the archive may not be readable now."""
    known = counting.count(Attempt.objects.filter(job_id=job.pk)) + len(archived.attempts)
    number = str(known + (job.locked_at is not None))
    return gettext("at least %s") % number if archived.notes else number


def facts(job: Job) -> dict[str, Any]:
    name = job.provider_name()
    wait = job_waits.of([job], limits.find(name) if name else None)[job.pk]
    now = clock.now()
    history = Attempt.objects.filter(job_id=job.id).order_by("-epoch")
    archived = reading.history(job)
    newest = [*history[:MOST], *archived.attempts][:MOST]
    calls = [*Call.objects.filter(job_id=job.id).order_by("-started_at")[:MOST], *archived.calls]
    return {
        "max_attempts": job.max_attempts,
        "runs": int(counting.count(history)) + len(archived.attempts) + (job.locked_at is not None),
        "waits_for": job_waits.full_text(wait) if wait else None,
        "no_worker": occasional.is_none_expected(),
        "held_by": job.locked_by,
        "running_since": job.locked_at,
        "running_for": shown.short(now - job.locked_at) if job.locked_at else None,
        "cause": causes.words(job.error_kind, type(job)),
        "last_error": job.last_error,
        "requeued_since": causes.is_past(job, newest),
        **lineage.facts(job),
        "history": [{**_attempt(each), "archived": each.is_archived} for each in reversed(newest)],
        "calls": [
            {**_call(each, now), "archived": each.is_archived} for each in reversed(calls[:MOST])
        ],
        "archive_notes": archived.notes,
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "epoch": attempt.epoch,
        "outcome": attempt.outcome,
        "worker": attempt.worker,
        "started_at": attempt.started_at,
        "ended_at": attempt.ended_at,
        "error": attempt.error,
        "milliseconds": attempt.steps or {},
    }


def _call(call: Call, now: datetime) -> dict[str, Any]:
    return {
        "provider": call.provider,
        "state": call.shown_state(now).value,
        "cost": call.cost,
        "currency": settings.CURRENCY,
        "error": call.error,
        "duration": shown.of_call(call, now),
    }


def lines(data: dict[str, Any]) -> Iterator[str]:
    yield f"{data['job']} ({data['kind']} {data['id']}): {data['status']}"
    if data["waits_for"]:
        yield f"waits for: {data['waits_for']}"
        if data["no_worker"]:
            yield "no worker takes jobs now"
    if data["running_since"]:
        since = shown.moment(data["running_since"])
        yield f"running since {since} on {data['held_by']}, {data['running_for']}"
    number = f"at least {data['runs']}" if data["archive_notes"] else data["runs"]
    yield f"runs: {number}, failed: {data['attempts']} of {data['max_attempts']} allowed"
    yield from lineage.lines(data)
    if data["last_error"]:
        past = ", before the requeue" if data["requeued_since"] else ""
        yield f"last error{past}: {data['cause']} – {data['last_error']}"
    for each in data["history"]:
        time = shown.seconds(each["started_at"], each["ended_at"])
        steps = " ".join(f"{step} {ms} ms" for step, ms in each["milliseconds"].items())
        where = " (from the archive)" if each["archived"] else ""
        line = f"  {shown.moment(each['started_at'])} {each['outcome']} {time} {steps}"
        yield line.rstrip() + where
    for call in data["calls"]:
        told = f"{call['state']}, {call['duration']}, cost {money.shown(call['cost'])}"
        where = " (from the archive)" if call["archived"] else ""
        yield f"  {call['provider']}: {told} {call['error']}".rstrip() + where
    yield from (f"! {note}" for note in data["archive_notes"])
