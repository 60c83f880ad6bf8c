"""How a claim ended, as a value, and which move of the job follows."""

import json
import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import F
from django.db.models.functions import Coalesce, Now

from jobs import tracing
from jobs.db import clock, text
from jobs.errors import (
    Cancel,
    LeaseLost,
    NoRoom,
    OperatorsFault,
    OutOfPatience,
    PermanentError,
    Poisonous,
    ProviderUnavailable,
    Snooze,
)
from jobs.models import MAX_INTERRUPTIONS, Job, Outcome, Status
from jobs.queue import retries

log = logging.getLogger(__name__)

Columns = dict[str, Any]
# Outcome, error, its class, traceback and steps.
Facts = tuple[str, str | None, str | None, str | None, str | None]

SUCCESS: Columns = {"unavailable_since": None, "last_error": None, "error_kind": None}


@dataclass(slots=True, eq=False)
class End:
    """The end of one claim. `job` carries the epoch of the claim."""

    job: Job
    outcome: Outcome
    result: Any = None
    error: BaseException | None = None
    wait: timedelta = timedelta(0)
    final: bool = False  # no further attempt, however many are left
    calls_hook: bool = True
    has_answer: bool = False  # the provider answered before it ended
    is_busy: bool = False  # not written, because its row was locked
    moved_to: Status | None = None  # what its job became, once it is written
    # Set by `successes` alone, which commits it by itself: a repeat must not look for it again.
    is_written: bool = False
    steps: dict[str, int] = field(default_factory=dict)

    def as_history(self) -> Facts:
        """What the history keeps of it."""
        if self.error is None:
            error = error_class = traceback = None
        else:
            error, error_class = text.message(self.error), text.class_path(self.error)
            is_fault = self.outcome != Outcome.CANCELED  # a cancel is asked for
            traceback = text.full_traceback(self.error) if is_fault else None
        steps = json.dumps(self.steps) if self.steps else None
        return self.outcome.value, error, error_class, traceback, steps

    def give_up(self, error: Exception) -> None:
        """Set the reason for failing; repeated writes set it only once."""
        if type(self.error) is not type(error):
            error.__cause__ = self.error
            self.error = error

    def spoil(self, what: str, error: BaseException) -> bool:
        """This end rolled the transaction back: change what to write. False if it can't change."""
        if self.outcome == Outcome.SUCCEEDED:
            self.outcome, self.error = Outcome.FAILED, error
            wait = retries.after(self.job, error)
            self.wait, self.final = wait or timedelta(0), wait is None
        elif self.calls_hook:
            self.calls_hook = False
            with tracing.on_behalf_of(self.job):
                told = "%s raised in %s; it moves without the hook"
                log.error(told, what, self.job, exc_info=error)
        else:
            return False
        return True


def from_error(job: Job, error: BaseException) -> End:
    """The end of a claim whose `perform` raised this error."""
    match error:
        case PermanentError():
            return End(job, Outcome.FAILED, error=error, final=True)
        case Snooze(seconds=seconds):
            return End(job, Outcome.SNOOZED, error=error, wait=clock.bounded(seconds))
        case Cancel():
            return End(job, Outcome.CANCELED, error=error)
        case ProviderUnavailable(retry_after=retry_after):
            wait = retries.wait_for_provider(type(job), retry_after)
            return End(job, Outcome.UNAVAILABLE, error=error, wait=wait)
        case LeaseLost() | NoRoom():
            return End(job, Outcome.RELEASED, error=error)
        case _:
            return failure(job, error)


def failure(job: Job, error: BaseException, outcome: Outcome = Outcome.FAILED) -> End:
    """A fault of the job itself: the queue retries it later, if it has attempts left."""
    wait = retries.after(job, error)
    return End(job, outcome, error=error, wait=wait or timedelta(0), final=wait is None)


def follow(end: End, row: Any) -> tuple[Status, Columns]:
    """The job's next status and columns, from its claim's end and its locked row."""
    match end.outcome:
        case Outcome.SUCCEEDED:
            return Status.SUCCEEDED, SUCCESS
        case Outcome.RELEASED:
            return Status.QUEUED, {}
        case Outcome.SNOOZED:
            # Its worker survived it: only interruptions in a row make a job poison.
            return Status.QUEUED, {"run_after": Now() + end.wait, "interruptions": 0}
        case Outcome.CANCELED:
            return Status.CANCELED, {"epoch": F("epoch") + 1, **_said(end)}
        case Outcome.UNAVAILABLE:
            return _unavailable(end, row)
        case Outcome.LOST:
            return _lost(end, row)
        case _:
            return _failed(end, row)


def _failed(end: End, row: Any) -> tuple[Status, Columns]:
    attempts = min(row.attempts + 1, row.max_attempts)
    columns = {"attempts": attempts, "unavailable_since": None, **_said(end)}
    if end.final or attempts == row.max_attempts:
        return Status.FAILED, columns
    return Status.QUEUED, {"run_after": Now() + end.wait, **columns}


def _unavailable(end: End, row: Any) -> tuple[Status, Columns]:
    """A provider's faults are limited by time, not by count. An operator's fault has no limit."""
    columns = {"run_after": Now() + end.wait, **_said(end)}
    if isinstance(end.error, OperatorsFault):
        return Status.QUEUED, {"unavailable_since": None, **columns}
    if end.has_answer:
        return Status.QUEUED, {"unavailable_since": Now(), **columns}
    if row.is_impatient:
        end.give_up(OutOfPatience(f"Unavailable for {type(end.job).patience}: {_words(end)}"))
        return Status.FAILED, _said(end)
    return Status.QUEUED, {"unavailable_since": Coalesce(F("unavailable_since"), Now()), **columns}


def _lost(end: End, row: Any) -> tuple[Status, Columns]:
    interruptions = row.interruptions + 1
    columns = {"epoch": F("epoch") + 1, "interruptions": interruptions}
    if interruptions >= MAX_INTERRUPTIONS:
        end.give_up(Poisonous(f"Its worker died or vanished {interruptions} times: {_words(end)}"))
        return Status.FAILED, columns | _said(end)
    end.wait = retries.wait_after_loss(interruptions)
    return Status.QUEUED, columns | {"run_after": Now() + end.wait, **_said(end)}


def _words(end: End) -> str:
    assert end.error is not None
    return text.message(end.error)


def _said(end: End) -> Columns:
    assert end.error is not None
    return {"last_error": text.message(end.error), "error_kind": text.kind(end.error)}
