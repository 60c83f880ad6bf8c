"""A second session for a worker with many quick jobs: it settles while the main thread claims.

Each of them waits for PostgreSQL most of the time. docs/speed.md says what that is worth.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue

from django.db import connection, connections

from jobs.db import sessions
from jobs.db.sessions import Patience

MANY = 100  # ended jobs; for fewer, handing them over costs more than it saves
PAUSE = 30.0  # seconds without it after a fault: perhaps the server has no connection left for it
IDLE = 5.0  # seconds after which its session ends

Failure = BaseException | None


class Clerk:
    """A thread with a connection of its own, while it is needed."""

    def __init__(self, patience: Patience) -> None:
        self.patience = patience
        self.is_at_work = False
        self.not_before = -math.inf  # monotonic
        self._last_used = -math.inf
        self._thread: threading.Thread | None = None
        self._todo: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._done: SimpleQueue[Failure] = SimpleQueue()

    @property
    def is_ready(self) -> bool:
        """SQLite has one writer at a time: nothing to gain there."""
        return connection.vendor == "postgresql" and time.monotonic() > self.not_before

    @contextmanager
    def doing(self, action: Callable[[], None]) -> Iterator[None]:
        """Do this in the clerk's thread while the block runs. The block's end waits for it.

        What it raised is raised there.
        """
        self._begin()
        self._todo.put(action)
        self.is_at_work = True
        try:
            yield
        finally:
            failure = self._done.get()
            self.is_at_work = False
            self._last_used = time.monotonic()
            if failure:
                self.not_before = time.monotonic() + PAUSE
        if failure:
            raise failure

    def rest(self) -> None:
        """End the thread, and its session."""
        if self._thread:
            self._todo.put(None)
            self._thread.join(1)  # it has nothing else to do
            self._thread = None

    def rest_if_idle(self) -> None:
        if time.monotonic() > self._last_used + IDLE:
            self.rest()

    def _begin(self) -> None:
        if self._thread is None:
            # If it can't be started now, the worker goes on without it.
            self.not_before = time.monotonic() + PAUSE
            thread = threading.Thread(target=self._work, name="clerk", daemon=True)
            thread.start()
            self._thread = thread
            self.not_before = -math.inf

    def _work(self) -> None:
        sessions.own_connection()
        with sessions.with_patience(self.patience):
            while action := self._todo.get():
                self._done.put(_attempt(action))
        connections.close_all()


def _attempt(action: Callable[[], None]) -> Failure:
    try:
        action()
    except BaseException as error:  # or the main thread would wait for ever
        with suppress(Exception):
            connection.close()
        return error
    return None
