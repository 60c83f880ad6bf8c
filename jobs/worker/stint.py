"""A worker for a while, inside a process that serves something else: a web server.

It is the usual loop, in a thread of its own. It touches no signal and no setting of the process,
and leaves neither a job held nor a connection open. Only a job that does not return keeps its
thread, which counts against the slots of later stints.
"""

import logging
import threading
import time
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta

from django.db import connection

from jobs.db import sessions
from jobs.models import Outcome, job_models
from jobs.run import Run
from jobs.worker.loop import Loop
from jobs.worker.options import Options

log = logging.getLogger(__name__)

SLOTS = 4
LEASE = timedelta(seconds=30)
LATE = 1.0  # seconds for the last settlement; then open calls are let go, too


class Busy(Exception):
    """This process is at work already: one stint at a time."""


class NoThreads(Exception):
    """Jobs of earlier stints have not returned: no thread is left for others."""


class Blocked(Exception):
    """The database did not answer: the stint was given up, and its jobs are left to be rescued."""


@dataclass(frozen=True)
class Report:
    claimed: int
    outcomes: Counter[Outcome]

    @property
    def is_idle(self) -> bool:
        """Whether no job came nearer to its end: a snooze or a release brings none nearer."""
        return not any(self.outcomes[each] for each in ADVANCING)


ADVANCING = (Outcome.SUCCEEDED, Outcome.FAILED, Outcome.TIMED_OUT, Outcome.CANCELED)

_turn = threading.Lock()
_unreturned: set[Run] = set()  # runs of earlier stints, which still keep their threads


def work(seconds: float, jobs: float, way: str, *, patience: float = 0) -> Report:
    """Work for at most this many seconds and jobs, and until no job is due.

    Raises Busy if the process is at work already, and still is after this many seconds of
    patience, which count as seconds of work.
    """
    ends_at = time.monotonic() + seconds
    if not _turn.acquire(timeout=patience):
        raise Busy
    try:
        return _work(ends_at, jobs, way)
    finally:
        _turn.release()


def _work(ends_at: float, jobs: float, way: str) -> Report:
    models = job_models()
    for model in models:
        model.check_setup()
    options = Options(
        slots=free_slots(),
        lease=LEASE,
        grace=timedelta(0),
        seconds=ends_at - time.monotonic(),
        jobs=jobs,
        way=way,
        is_guest=True,
    )
    loop = Loop(models, options)
    try:
        _watch(loop, ends_at)
    finally:
        _unreturned.update(loop.crew.performing.copy())
    return Report(loop.bounds.claimed, loop.held.outcomes)


def free_slots() -> int:
    _unreturned.difference_update([run for run in _unreturned if run.has_returned])
    if len(_unreturned) >= SLOTS:
        names = ", ".join(sorted({run.job._meta.label for run in _unreturned}))
        raise NoThreads(
            f"{len(_unreturned)} jobs of earlier requests have not returned ({names}). Start this"
            " process anew, or give such jobs a worker that stays."
        )
    return SLOTS - len(_unreturned)


def _watch(loop: Loop, ends_at: float) -> None:
    """Run the loop and wait for its end; raises Blocked if it does not come."""
    thread = threading.Thread(target=_run, args=[loop], name="stint", daemon=True)
    thread.start()
    sessions.give_back()  # this thread only waits
    thread.join(ends_at + LATE - time.monotonic())
    if thread.is_alive():
        loop.stop()
        loop.stop()  # urgent: answers that are still being stored are no longer waited for
        thread.join(LATE)
    if thread.is_alive():
        loop.heartbeat.stopped.set()  # its leases end, and other workers rescue its jobs
        log.error("%s: the database does not answer. Its jobs are left to others.", loop.name)
        raise Blocked("The database did not answer in time. The jobs are left to be rescued.")


def _run(loop: Loop) -> None:
    sessions.own_connection()
    try:
        loop.run(drain=True)
    finally:
        connection.close()
