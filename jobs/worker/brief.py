"""Brief runs: performed by as few threads as can keep up with them.

A thread that opens a file or asks the database lets go of the interpreter, and then waits until
another thread does. With eight threads, that took half of the time of jobs that write a line. So
one thread takes such runs. Others join while the interpreter has time for them, or if none begins.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

from jobs.run import Run

LOOK_EVERY = 0.01  # seconds
BUSY = 0.6  # of the time, by all threads together: one more would wait for the interpreter


class BriefRuns:
    """Runs that wait for a thread, and a count of the threads that take them.

    `call` makes a free thread of the crew `join`, `take` runs and `leave`.
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
            self._call_one()
        elif not self._is_watched:
            self._watch()

    def take(self) -> Run | None:
        try:
            return self._waiting.popleft()
        except IndexError:
            return None

    def leave(self) -> None:
        """This thread takes no more of them for now."""
        with self._lock:
            self.takers -= 1
        # A run that was added while this thread still counted has called nobody.
        if self._waiting and not self.takers:
            self._call_one()

    def dismiss(self) -> None:
        self._bell.put(False)

    def _call_one(self) -> None:
        with self._lock:
            self.takers += 1
        self.call()

    # More threads

    def _watch(self) -> None:
        self._is_watched = True
        if self._watcher is None:
            self._watcher = threading.Thread(target=self._keep_watch, name="brief", daemon=True)
            self._watcher.start()
        self._bell.put(True)

    def _keep_watch(self) -> None:
        while self._bell.get():
            while self._waiting:
                self._look()
            self._is_watched = False  # the next run that has to wait rings again

    def _look(self) -> None:
        """Call one more thread if it would do anything but wait for the interpreter."""
        first = self._first()
        began_at, used = time.monotonic(), time.process_time()
        time.sleep(LOOK_EVERY)
        busy = (time.process_time() - used) / (time.monotonic() - began_at)
        is_stuck = first is not None and self._first() is first
        if self._waiting and self.takers < self.most and (is_stuck or busy < BUSY):
            self._call_one()

    def _first(self) -> Run | None:
        try:
            return self._waiting[0]
        except IndexError:
            return None
