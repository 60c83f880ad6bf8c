"""A second session for a worker with many quick jobs: it settles while the main thread claims.

Each of them waits for PostgreSQL most of the time. One after the other they drained a fifth fewer
jobs (docs/speed.md).
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

from django.db import connection

from jobs.db import sessions
from jobs.db.sessions import Patience

MANY = 100  # ended jobs; for fewer, handing them over costs more than it saves
PAUSE = 30.0  # seconds without it after a fault: perhaps the server has no connection left for it

Error = BaseException | None


class Clerk:
    """A thread with a connection of its own, from the first use until `rest`."""

    def __init__(self, patience: Patience) -> None:
        self.patience = patience
        self.not_before = -math.inf  # monotonic
        self._todo: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._done: SimpleQueue[Error] = SimpleQueue()
        self._is_there = False

    @property
    def is_ready(self) -> bool:
        """SQLite has one writer at a time: nothing to gain there."""
        return connection.vendor == "postgresql" and time.monotonic() > self.not_before

    @contextmanager
    def doing(self, action: Callable[[], None]) -> Iterator[None]:
        """Let the thread do this beside the block, whose end waits for it and raises its error."""
        if not self._is_there:
            self._is_there = True
            threading.Thread(target=self._work, name="clerk", daemon=True).start()
        self._todo.put(action)
        try:
            yield
        finally:
            error = self._done.get()
            if error:
                self.not_before = time.monotonic() + PAUSE
        if error:
            raise error

    def rest(self) -> None:
        """Let the thread end, and its connection."""
        if self._is_there:
            self._is_there = False
            self._todo.put(None)

    def _work(self) -> None:
        sessions.own_connection()
        with sessions.with_patience(self.patience):
            while action := self._todo.get():
                self._done.put(_attempt(action))
        connection.close()


def _attempt(action: Callable[[], None]) -> Error:
    try:
        action()
    except BaseException as error:  # or the main thread would wait for ever
        connection.close()
        return error
    return None
