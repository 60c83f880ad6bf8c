"""Brief runs: performed by as few threads as can keep up with them.

A thread that opens a file or asks the database lets go of the interpreter, and then waits until
another thread does. With eight threads, that took half of the time of jobs that write a line. So
one thread takes such runs. Others join while the process has time for them, or if runs wait long.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue

from jobs.run import Run

LOOK_EVERY = 0.01  # seconds
BUSY = 0.6  # of the time, by all threads together: one more would wait for the interpreter
LATE = 0.2  # seconds; with few slots, twice what a worker claims ahead


class BriefRuns:
    """Runs that wait for a thread, and a count of the threads that take them.

    `call` makes a free thread of the crew `take` runs until there are none, and then `leave`.
    """

    def __init__(self, most: int, call: Callable[[], None]) -> None:
        self.most = most  # threads
        self.call = call
        self.takers = 0  # threads at it, or called to it
        self._waiting: deque[Run] = deque()
        self._lock = threading.Lock()
        self._bell: SimpleQueue[bool] = SimpleQueue()
        self._is_watched = False
        self._watcher: threading.Thread | None = None

    def add(self, run: Run) -> None:
        self._waiting.append(run)
        if not self.takers:
            self._call_one(most=1)
        elif not self._is_watched:
            with suppress(RuntimeError):  # no thread can be started: the takers perform it too
                self._watch()

    def take(self) -> Run | None:
        try:
            return self._waiting.popleft()
        except IndexError:
            return None

    def leave(self) -> None:
        """One thread takes no more of them for now."""
        with self._lock:
            self.takers -= 1
        # A run that was added before this thread left has called no other thread.
        if self._waiting and not self.takers:
            with suppress(RuntimeError):  # no thread can be started: the next `add` tries again
                self._call_one(most=1)

    def dismiss(self) -> None:
        """Forget the runs that were not taken: the worker has released their jobs."""
        self._waiting.clear()
        self._bell.put(False)

    def _call_one(self, most: int) -> None:
        with self._lock:
            if self.takers >= most:
                return
            self.takers += 1
        try:
            self.call()
        except BaseException:  # no thread can be started
            with self._lock:
                self.takers -= 1
            raise

    # More threads

    def _watch(self) -> None:
        if self._watcher is None:
            watcher = threading.Thread(target=self._keep_watch, name="brief", daemon=True)
            watcher.start()
            self._watcher = watcher
        self._is_watched = True
        self._bell.put(True)

    def _keep_watch(self) -> None:
        while self._bell.get():
            while self._waiting:
                with suppress(RuntimeError):  # no thread can be started: perhaps the next time
                    self._look()
            self._is_watched = False
            if self._waiting:  # a run was added just before that, and has not rung
                self._watch()

    def _look(self) -> None:
        """Call one more thread if it would do anything but wait for the interpreter."""
        first = self._first()
        busy = share_of_time(LOOK_EVERY)
        now_first = self._first()
        if first is None or now_first is None:
            return
        is_late = time.monotonic() - now_first.claimed_at > LATE
        if self.is_stuck(first, now_first) or is_late or busy < BUSY:
            self._call_one(self.most)

    @staticmethod
    def is_stuck(before: Run, now: Run) -> bool:
        """Whether no run was taken during this look."""
        return now is before

    def _first(self) -> Run | None:
        try:
            return self._waiting[0]
        except IndexError:
            return None


def share_of_time(seconds: float) -> float:
    """Wait; returns for how much of this time the process used a processor."""
    began_at, used = time.monotonic(), time.process_time()
    time.sleep(seconds)
    return (time.process_time() - used) / (time.monotonic() - began_at)
