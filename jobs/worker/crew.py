"""The threads that perform: runs go in, ends come out."""

import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue

from django.core.cache import caches

from jobs import spans, tracing
from jobs.db import faults, sessions, text
from jobs.errors import ProviderUnavailable
from jobs.models import Outcome
from jobs.queue import outcomes
from jobs.queue.outcomes import End
from jobs.run import Run
from jobs.worker import logs
from jobs.worker.brief import BriefRuns

log = logging.getLogger(__name__)


class Crew:
    """Up to `size` threads, started when they are needed.

    A run that was given up keeps its thread until it returns; a new thread takes its place.
    They are daemon threads, so they do not keep the process from ending.
    """

    def __init__(self, size: int, worker: str, wake: Callable[[], None]) -> None:
        self.size = size
        self.worker = worker
        self.wake = wake
        self.hung: set[Run] = set()  # past their deadline
        self.abandoned: set[Run] = set()  # the worker lost the job; the run itself may be fine
        self.performing: set[Run] = set()  # also those that the worker no longer waits for
        self._threads = 0
        self._lock = threading.Lock()
        self._todo: SimpleQueue[Run | BriefRuns | None] = SimpleQueue()
        self._brief = BriefRuns(size, self._call)
        self._ended: deque[tuple[Run, End]] = deque()

    @property
    def is_paying(self) -> bool:
        """Whether a run that was given up still waits for a paid answer."""
        return any(run.is_paying for run in (*self.hung, *self.abandoned))

    @property
    def is_buying(self) -> bool:
        """Whether any thread waits for a paid answer, or stores one."""
        return any(run.is_paying for run in self.performing.copy())

    def hand_over(self, run: Run) -> None:
        """Let a thread perform it, as soon as one is free."""
        self._give(run)

    def hand_over_brief(self, run: Run) -> None:
        """The same for a run that is over in no time: it may share a thread with others."""
        run.is_brief = True
        self._brief.add(run)

    @property
    def brief_takers(self) -> int:
        """How many threads perform brief runs now."""
        return self._brief.takers

    def take_ended(self) -> list[tuple[Run, End]]:
        return [self._ended.popleft() for _ in range(len(self._ended))]

    def give_up(self, run: Run, among: set[Run]) -> None:
        """Start a new thread in place of this run's."""
        among.add(run)
        if run.has_returned:  # just now
            among.discard(run)
        try:
            self._add_thread()
        except RuntimeError:  # it can't be started now: the next run may
            with self._lock:
                self._threads -= 1
        if run.is_brief:
            self._brief.leave()

    def dismiss(self) -> None:
        """Let every thread end as soon as it has nothing to perform."""
        for _ in range(self._threads):
            self._todo.put(None)
        self._brief.dismiss()

    def _call(self) -> None:
        self._give(self._brief)

    def _give(self, task: Run | BriefRuns) -> None:
        with self._lock:
            if self._threads < self.size:
                try:
                    self._add_thread()
                    self._threads += 1
                except RuntimeError:  # it can't be started now: the others perform this too
                    if not self._threads:
                        raise
        self._todo.put(task)

    def _add_thread(self) -> None:
        threading.Thread(target=self._work, name="perform", daemon=True).start()

    def _work(self) -> None:
        with suppress(Exception):  # what is wrong with a cache is raised where it is used
            caches.all()  # Django keeps them per context: the contexts of runs inherit these
        has_place = True
        while has_place and (task := self._todo.get()):
            if isinstance(task, BriefRuns):
                has_place = self._take_brief(task)
            else:
                has_place = self._perform(task)

    def _take_brief(self, runs: BriefRuns) -> bool:
        """Perform brief runs until none is left, or another task waits for a thread."""
        while run := runs.take():
            if not self._perform(run):
                return False  # the loop has given it up, and called `leave` for it
            if self._todo.qsize():
                break
        runs.leave()
        return True

    def _perform(self, run: Run) -> bool:
        """Perform a run; False if it was given up meanwhile, and this thread replaced."""
        if not run.begin_once():
            return True  # the loop released it meanwhile
        self.performing.add(run)
        end = perform(run, self.worker)
        run.has_returned = True
        self.performing.discard(run)
        if run.end_once():
            self._ended.append((run, end))
            self.wake()
            return True
        self.hung.discard(run)
        self.abandoned.discard(run)
        self.wake()
        return False


def perform(run: Run, worker: str) -> End:
    """Perform a claimed job; whatever it raises becomes an end.

    In a context of its own: what it sets there is gone when the next job runs in this thread.
    """
    return copy_context().run(_perform, run, worker)


def _perform(run: Run, worker: str) -> End:
    logs.begin(run.job, worker)
    with spans.perform(run.job, worker) as span:
        run.job.trace = tracing.caller.get() or None  # its hooks follow this run
        log.debug("started")
        try:
            run.start()
            run.check()
            end = End(run.job, Outcome.SUCCEEDED, result=run.job.perform(run))
        except BaseException as error:  # sys.exit() in a job must not end its thread
            end = _end(run, error)
        run.finish()
        span.note({"tabie.outcome": end.outcome.value})
        span.end_with(end.error)
        sessions.give_back()
    return end


def _end(run: Run, error: BaseException) -> End:
    try:
        return outcomes.from_error(run.job, _blame(error))
    except BaseException as unreadable:  # a property of the error raised
        return outcomes.failure(run.job, unreadable)


def _blame(error: BaseException) -> BaseException:
    """A lost database or a lock that was not freed is not the job's fault."""
    if faults.is_conflict(error) or faults.is_servers(error):
        reason = f"The database can't be used: {text.message(error)}"
        return ProviderUnavailable(retry_after=2, reason=reason)
    return error
