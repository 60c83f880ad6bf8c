"""The threads that perform: runs go in, ends come out."""

import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

from jobs.db import faults, sessions
from jobs.errors import ProviderUnavailable
from jobs.models import Outcome
from jobs.queue import outcomes
from jobs.queue.outcomes import End
from jobs.run import Run
from jobs.worker import logs


class Crew:
    """Up to `size` threads, started when they are needed.

    A thread whose run was given up because it hangs is written off: another takes its
    place, and as a daemon it does not keep the process from ending.
    """

    def __init__(self, size: int, worker: str, wake: Callable[[], None]) -> None:
        self.size = size
        self.worker = worker
        self.wake = wake
        self.written_off: set[Run] = set()
        self._threads = 0
        self._todo: SimpleQueue[Run] = SimpleQueue()
        self._ended: deque[tuple[Run, End]] = deque()

    def hand_over(self, run: Run) -> None:
        if self._threads < self.size:
            self._threads += 1
            self._add_thread()
        self._todo.put(run)

    def take_ended(self) -> list[tuple[Run, End]]:
        return [self._ended.popleft() for _ in range(len(self._ended))]

    def write_off(self, run: Run) -> None:
        self._add_thread()
        self.written_off.add(run)
        if run.has_returned:  # in this very moment
            self.written_off.discard(run)

    def _add_thread(self) -> None:
        threading.Thread(target=self._work, name="perform", daemon=True).start()

    def _work(self) -> None:
        while True:
            run = self._todo.get()
            if not run.begin_once():
                continue  # taken back meanwhile
            end = perform(run, self.worker)
            run.has_returned = True
            if not run.end_once():
                self.written_off.discard(run)
                return
            self._ended.append((run, end))
            self.wake()


def perform(run: Run, worker: str) -> End:
    """Perform a claimed job; whatever it raises becomes an end."""
    with logs.about(run.job, worker):
        run.start()
        try:
            run.check()
            end = End(run.job, Outcome.SUCCEEDED, result=run.job.perform(run))
        except BaseException as error:  # sys.exit() in a job must not end its thread
            end = outcomes.from_error(run.job, _blame(error))
        run.finish()
        sessions.give_back()
    return end


def _blame(error: BaseException) -> BaseException:
    """A database that went away, or kept it waiting, is not the job's fault."""
    if faults.is_nobodys_fault(error):
        return ProviderUnavailable(retry_after=2, reason=f"The database can't be used: {error}")
    return error
