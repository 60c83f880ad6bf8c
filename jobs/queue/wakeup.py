"""Waking idle workers: best effort, for speed only. Polling finds every job without it.

A notice names the kinds of the new jobs, so that workers ask about no others. A notice without
kinds is about any of them: plain SQL and workers of older code send it.
"""

import logging
import math
import secrets
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from django.db import connection, transaction

from jobs.db import sessions
from jobs.models import Job

log = logging.getLogger(__name__)

# NOTIFY takes a lock of the whole server at commit, so each process names a kind at most once per
# pause. A woken worker looks again after the pause, so it also finds jobs that sent no notice.
PAUSE = 0.02
LONGEST = 7_999  # bytes that a notice may carry
ECHO_SECONDS = 5.0
DEAF_SECONDS = 300.0  # until LISTEN is tried again: perhaps the server was only slow

_noticed: dict[str, float] = {}  # when each kind was last named (monotonic)


class _Unsent(threading.local):
    """Kinds announced in this thread's transaction, or in an earlier one that was rolled back."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()


_unsent = _Unsent()


def announce(model: type[Job]) -> None:
    """Wake the workers for this kind of job once the caller's transaction is committed."""
    if connection.vendor == "postgresql":
        _unsent.kinds.add(model._meta.label)
        # Every call registers: a savepoint that is rolled back takes its own with it. The first
        # one that runs sends all. robust: a wake-up that fails must not fail what was committed.
        transaction.on_commit(_notify, robust=True)


def _notify() -> None:
    now = time.monotonic()
    kinds = [kind for kind in sorted(_unsent.kinds) if now - _noticed.get(kind, -PAUSE) >= PAUSE]
    _unsent.kinds.clear()
    if not kinds:
        return
    _noticed.update(dict.fromkeys(kinds, now))
    named = " ".join(kinds)
    with connection.cursor() as cursor:
        # Too many to name: then it is about any kind.
        notice = named if len(named.encode()) <= LONGEST else ""
        cursor.execute("SELECT pg_notify('jobs', %s)", [notice])


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
    """Calls `wake` with the kinds that a notice names, on a connection of its own."""

    def __init__(self, wake: Callable[[Collection[str]], None]) -> None:
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
        self.wake([])  # for notices sent before LISTEN
        listen_again_at = time.monotonic() + DEAF_SECONDS if self.is_deaf else math.inf
        while not self.stopped.is_set() and time.monotonic() < listen_again_at:
            for notice in raw.notifies(timeout=1, stop_after=1):
                self.wake(notice.payload.split())


def hears(session: Any) -> bool:
    """Whether a notice that another session sends arrives here.

    On a channel of its own, which wakes nobody. Behind a transaction pooler LISTEN stays with a
    session of the server that anybody may use next, so `jobs` must not be tried there.
    """
    echo = f"jobs_{secrets.token_hex(8)}"
    session.execute(f"LISTEN {echo}")
    sessions.elsewhere(f"NOTIFY {echo}")
    return any(session.notifies(timeout=ECHO_SECONDS, stop_after=1))
