"""What `perform` receives: whether to stop, how to time steps, how to report progress."""

import logging
import math
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

from django.db import Error, connection

from jobs import spans
from jobs.db import sessions
from jobs.db.text import clean
from jobs.errors import LeaseLost
from jobs.models import Job

log = logging.getLogger(__name__)
T = TypeVar("T")

WRITE_PROGRESS_EVERY = 0.3  # seconds
LONGEST_WRITE = timedelta(seconds=150)  # if the storage hangs both in the put and in the read


class Pulse:
    """When the database last confirmed this worker's leases, by the monotonic clock.

    Per model: while one table is locked, the leases in the other tables are still confirmed.
    """

    def __init__(self, lease: float) -> None:
        self.lease = lease
        self._confirmed_at: dict[type[Job], float] = {}

    def confirm(self, model: type[Job], moment: float) -> None:
        self._confirmed_at[model] = moment

    def last(self, model: type[Job]) -> float:
        return self._confirmed_at.get(model, -math.inf)


class Run:
    """One claim being performed."""

    def __init__(
        self, job: Job, pulse: Pulse, claimed_at: float, ends_at: float = math.inf
    ) -> None:
        self.job = job
        self.epoch = job.epoch
        self.attempt = job.attempts + 1
        self.deadline = math.inf  # monotonic; set when it starts
        self.seconds = 0.0
        self.steps: dict[str, int] = {}
        self._pulse = pulse
        self.claimed_at = claimed_at
        self._ends_at = ends_at  # monotonic; when its worker's time is up
        self._stop_reason: str | None = None
        self.is_brief = False  # it shares a thread with others
        self.is_lost = False  # the claim is gone: canceled or taken over
        self.is_paying = False  # from a call's intent until its answer is stored
        self.has_answer = False  # a provider has answered during this run
        self._step = ""
        self._progress_at = -math.inf
        self.has_returned = False  # from perform
        self._begin = threading.Lock()
        self._end = threading.Lock()

    def start(self) -> None:
        self.seconds = -time.monotonic()
        self.allow(self.job.time_limit)

    def finish(self) -> None:
        self.seconds += time.monotonic()

    @property
    def should_stop(self) -> bool:
        """Whether to stop: the claim is lost, the run is late, or the worker is stopping."""
        return self._stop_reason is not None or time.monotonic() > self.deadline

    def stop(self, reason: str) -> None:
        self._stop_reason = reason

    def lose(self, reason: str) -> None:
        self.is_lost = True
        self.stop(reason)

    def allow(self, time_left: timedelta) -> None:
        """Move the deadline to this long from now, whatever its model's timeout is."""
        self.deadline = time.monotonic() + time_left.total_seconds()

    def check(self) -> None:
        """Raise LeaseLost unless it is safe to start something that costs money.

        After two thirds of the lease without a confirmed beat, another worker may soon take
        over: no new call starts until a beat is confirmed. Finishing stays allowed.
        """
        if self.should_stop:
            raise LeaseLost(self._stop_reason or "The run is past its deadline.")
        confirmed_at = max(self.claimed_at, self._pulse.last(type(self.job)))
        if time.monotonic() - confirmed_at > self._pulse.lease * 2 / 3:
            raise LeaseLost("No beat was confirmed lately: the claim may be gone.")

    @property
    def time_left(self) -> float:
        """Seconds until its worker's time is up; most workers have no end."""
        return self._ends_at - time.monotonic()

    def insist(self, write: Callable[[], T], until: float, *faults: type[Exception]) -> T:
        """Repeat a write that fails with one of `faults`, while the claim holds, up to `until`."""
        pause = 0.2
        tell = log.warning
        while True:
            self.allow(LONGEST_WRITE + timedelta(seconds=pause))
            try:
                return write()
            except faults as error:
                connection.close()
                if self.is_lost or time.monotonic() + pause > until:
                    raise
                tell("%s: not written yet: %s", self.job, error)
                tell = log.debug  # once per write: an outage is long, and it has lines of its own
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, 10.0)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a named step. The database connection returns to the pool before and after it."""
        name = clean(name, 100)
        self._step = name
        sessions.give_back()
        started_at = time.perf_counter()
        try:
            with spans.step(name):
                yield
        finally:
            milliseconds = round((time.perf_counter() - started_at) * 1000)
            self.steps[name] = self.steps.get(name, 0) + milliseconds
            sessions.give_back()

    def progress(self, done: int, total: int, text: str = "") -> None:
        """Show people the progress: written a few times a second at most, the last one always."""
        if connection.in_atomic_block:
            raise RuntimeError(
                "run.progress() inside a transaction stays invisible until it commits."
            )
        now = time.monotonic()
        if done < total and now - self._progress_at < WRITE_PROGRESS_EVERY:
            return
        self._progress_at = now
        told = {"step": self._step, "done": int(done), "total": int(total)}
        told["text"] = clean(text, 500)
        try:
            type(self.job).objects.held(self.job).update(progress=told)
        except Error as error:  # must not fail a run that may have cost money
            log.debug("Progress not written: %s", error)
        sessions.give_back()

    # The worker's threads compete for these two; only the first caller gets True.

    def begin_once(self) -> bool:
        """Win the right to perform it, or to release it unperformed."""
        return self._begin.acquire(blocking=False)

    def end_once(self) -> bool:
        """Win the right to decide how it ended."""
        return self._end.acquire(blocking=False)

    @property
    def has_ended(self) -> bool:
        return self._end.locked()
