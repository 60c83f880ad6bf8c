"""Waking idle workers: best effort, for speed only. Polling finds every job without it."""

import logging
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from django.db import connection, transaction

from jobs.db import sessions

log = logging.getLogger(__name__)

# NOTIFY takes a lock of the whole server at commit, so each process sends at most one per pause.
# A woken worker looks again after the pause, so it also finds jobs that sent no notice.
PAUSE = 0.02
ECHO_SECONDS = 5.0

_last_notice = 0.0


def announce() -> None:
    """Wake the workers once the caller's transaction is committed."""
    if connection.vendor == "postgresql":
        # robust: a wake-up that fails must not fail what has been committed.
        transaction.on_commit(_notify, robust=True)


def _notify() -> None:
    global _last_notice
    if time.monotonic() - _last_notice < PAUSE:
        return
    _last_notice = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute("NOTIFY jobs")


class Bell:
    """Wakes the thread that waits for it. A signal handler may ring it at any moment.

    An Event would not do: it has a lock. A signal handler that interrupts the thread holding
    that lock would wait for it for ever.
    """

    def __init__(self) -> None:
        self._rings: SimpleQueue[None] = SimpleQueue()

    def ring(self) -> None:
        self._rings.put(None)

    def wait(self, seconds: float) -> None:
        """Return at the first ring or after this time, and clear all rings until then."""
        with suppress(Empty):
            self._rings.get(timeout=seconds)
            while True:
                self._rings.get_nowait()


class Listener(threading.Thread):
    """Calls `wake` on every notice, on a connection of its own."""

    def __init__(self, wake: Callable[[], None]) -> None:
        super().__init__(name="listener", daemon=True)
        self.wake = wake
        self.is_deaf = False
        self.stopped = threading.Event()

    def run(self) -> None:
        if connection.vendor != "postgresql":
            return
        sessions.own_connection()
        while not self.stopped.is_set():
            try:
                self.listen()
            except Exception:
                connection.close()
                # No hurry: polling goes on meanwhile.
                self.stopped.wait(1)
        connection.close()

    def listen(self) -> None:
        connection.ensure_connection()
        raw = connection.connection
        if hears(raw):
            self.is_deaf = False
            raw.execute("LISTEN jobs")
        elif not self.is_deaf:
            self.is_deaf = True
            log.info("LISTEN has no effect, as behind a pooler: jobs are found by polling alone.")
        self.wake()  # for notices sent before LISTEN
        while not self.stopped.is_set():
            for _notice in raw.notifies(timeout=1, stop_after=1):
                self.wake()


def hears(session: Any) -> bool:
    """Whether a notice that another session sends arrives here.

    On a channel of its own, which wakes nobody. Behind a transaction pooler LISTEN stays with a
    session of the server that anybody may use next, so `jobs` must not be tried there.
    """
    echo = f"jobs_{secrets.token_hex(8)}"
    session.execute(f"LISTEN {echo}")
    sessions.elsewhere(f"NOTIFY {echo}")
    return any(session.notifies(timeout=ECHO_SECONDS, stop_after=1))
