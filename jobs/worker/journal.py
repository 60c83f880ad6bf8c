"""One line of the log for each claim that ended."""

import logging
from datetime import timedelta

from jobs.db import sessions, text
from jobs.models import Attempt, Outcome, Status
from jobs.queue.outcomes import End
from jobs.worker import logs

log = logging.getLogger(__name__)

LOUD = (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.LOST)


def report(end: End, worker: str, *, missed: bool = False) -> None:
    """Log how a claim ended. `missed`: the write found the claim gone."""
    loud = end.outcome in LOUD
    level = logging.WARNING if missed or loud else logging.INFO
    if not log.isEnabledFor(level):
        return
    with logs.about(end.job, worker):
        if missed and not has_recorded(end, worker):
            log.warning("%s, but the claim was gone: dropped", end.outcome)
        else:
            said = f": {text.message(end.error)}" if end.error else ""
            fault = end.error if loud else None
            log.log(level, "%s%s%s", end.outcome, said, what_follows(end), exc_info=fault)


def what_follows(end: End) -> str:
    """Whether and when the job is tried again; nothing after a success or a cancel."""
    match end.moved_to:
        case Status.QUEUED if end.wait:
            return f" (tried again in {_span(end.wait)})"
        case Status.QUEUED:
            return " (queued again)"
        case Status.FAILED:
            return " (given up: not tried again)"
        case _:
            return ""


def _span(wait: timedelta) -> str:
    seconds = wait.total_seconds()
    return f"{seconds:.1f} s" if seconds < 10 else str(timedelta(seconds=round(seconds)))


def has_recorded(end: End, worker: str) -> bool:
    """Whether this worker's own write ended the claim, and only the reply was lost."""
    # A rescue records the claim under this worker's name too, but with another outcome.
    ours = Attempt.objects.filter(
        job_id=end.job.pk, epoch=end.job.epoch, worker=worker, outcome=end.outcome
    )
    with sessions.short_transaction():
        return ours.exists()
