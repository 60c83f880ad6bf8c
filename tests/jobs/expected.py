"""What the state machine sees in the database, and what it expects to see after a step."""

import functools
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.db.models.functions import Now

from jobs.models import ENDED, MAX_INTERRUPTIONS, Attempt, Outcome, Status
from jobs.queue.outcomes import End
from tests.testapp.models import HookCall, Hooked

HOOK_OF = {
    Status.SUCCEEDED: "on_success",
    Status.FAILED: "on_failure",
    Status.CANCELED: "on_cancel",
}


@dataclass
class Seen:
    """Everything the database shows, by the name of the job."""

    rows: dict[str, Any]
    attempts: dict[str, Counter[Any]]  # (epoch, worker, outcome)
    hooks: dict[str, Counter[str]]  # hooks that ran and were not rolled back

    def about(self, name):
        return self.rows[name], self.attempts[name], self.hooks[name]


@functools.cache
def all_rows():
    questions = {
        "is_due": Q(status=Status.QUEUED, run_after__lte=Now()),
        "is_waiting": Q(status=Status.QUEUED, run_after__gt=Now()),
        "is_expired": Q(status=Status.PROCESSING, lease_expires_at__lt=Now()),
        "is_impatient": Q(unavailable_since__lt=Now() - Hooked.patience),
    }
    columns = [field.attname for field in Hooked._meta.concrete_fields]
    jobs = Hooked.objects.order_by("id").annotate(**questions)
    return jobs.values_list(*columns, *questions, named=True)


def look():
    rows = list(all_rows().all())
    name_of = {row.id: row.name for row in rows}
    assert len(set(name_of.values())) == len(rows), "one row per name"
    attempts, hooks = defaultdict(Counter), defaultdict(Counter)
    for id, *attempt in Attempt.objects.values_list("job_id", "epoch", "worker", "outcome"):
        attempts[name_of[id]][tuple(attempt)] += 1
    for id, hook in HookCall.objects.values_list("job_id", "hook"):
        hooks[name_of[id]][hook] += 1
    return Seen({row.name: row for row in rows}, attempts, hooks)


# What should follow


@dataclass
class Change:
    """How one step should change one job."""

    status: Status
    new_epoch: bool = False
    outcome: Outcome | None = None  # the outcome of the ended claim
    hook: str | None = None  # the hook that ran


def change_by(end, row):
    """How an end changes a job that is in the expected situation."""
    outcome = end.outcome
    if outcome == Outcome.SUCCEEDED and "on_success" in raising(end.job):
        outcome = Outcome.FAILED
    match outcome:
        case Outcome.SUCCEEDED:
            status = Status.SUCCEEDED
        case Outcome.CANCELED:
            status = Status.CANCELED
        case Outcome.RELEASED | Outcome.SNOOZED:
            status = Status.QUEUED
        case Outcome.UNAVAILABLE:
            status = Status.FAILED if row.is_impatient else Status.QUEUED
        case Outcome.LOST:
            poison = row.interruptions + 1 >= MAX_INTERRUPTIONS
            status = Status.FAILED if poison else Status.QUEUED
        case Outcome.FAILED | Outcome.TIMED_OUT:
            gives_up = end.final or row.attempts + 1 >= row.max_attempts
            status = Status.FAILED if gives_up else Status.QUEUED
    hook = HOOK_OF.get(status)
    return Change(
        status,
        new_epoch=outcome in (Outcome.LOST, Outcome.CANCELED),
        outcome=outcome if row.status == Status.PROCESSING else None,
        hook=hook if end.calls_hook and hook not in raising(end.job) else None,
    )


def change_by_claim(row, fault):
    """How a claim changes a due job; with `fault` the worker stops right after the commit."""
    if "on_start" not in raising(row):
        return Change(Status.PROCESSING, new_epoch=True, hook="on_start")
    if fault:  # the hook raised, and the worker stopped before it settled the job as failed
        return Change(Status.PROCESSING, new_epoch=True)
    change = change_by(End(row, Outcome.FAILED), row._replace(status=Status.PROCESSING))
    change.new_epoch = True
    return change


def meets_a_raising_hook(end, row):
    success = end.outcome == Outcome.SUCCEEDED
    hook = "on_success" if success else HOOK_OF.get(change_by(end, row).status)
    return end.calls_hook and hook in raising(end.job)


def raising(job):
    return job.raises_in.split()


def is_suspect(row):
    return row.interruptions == MAX_INTERRUPTIONS - 1


def is_held(end, row):
    claim = (Status.PROCESSING, end.job.epoch, end.job.locked_by)
    return (row.status, row.epoch, row.locked_by) == claim


def is_abandoned(end, row):
    return is_held(end, row) and row.is_expired


def is_living(end, row):
    return row.status not in ENDED
