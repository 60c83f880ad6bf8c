"""The beat that extends this worker's leases, and the watchdog."""

import logging
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

from django.db import Error, connection
from django.db.models.functions import Now

from jobs import __version__, queue
from jobs.db import faults, sessions, text
from jobs.db.sessions import Patience
from jobs.models import Job, Worker
from jobs.run import Pulse, Run
from jobs.worker.alive import SignsOfLife

log = logging.getLogger(__name__)

BLOCKED = 70  # exit code: EX_SOFTWARE


class Watchdog(threading.Thread):
    """Ends the process when a database call blocks for a whole lease.

    A black-holed connection stays blocked past every timeout of the driver and the server.
    Only a thread that does not wait for the database can end the process then.
    """

    def __init__(self, limit: float) -> None:
        super().__init__(name="watchdog", daemon=True)
        self.limit = limit
        self.awake = 0.0  # seconds; the time in which the process was frozen does not count
        self.busy_since: dict[str, float] = {}

    @contextmanager
    def watch(self, what: str) -> Iterator[None]:
        """While this lasts, the database must answer at least once per lease."""
        self.busy_since[what] = self.awake
        try:
            with self.listen(what):
                yield
        finally:
            del self.busy_since[what]

    @contextmanager
    def listen(self, what: str) -> Iterator[None]:
        """The database's answers to this thread count for what is watched, too."""

        def note_answer(execute: Callable[..., Any], *query: Any) -> Any:
            result = execute(*query)
            self.busy_since[what] = self.awake
            return result

        with connection.execute_wrapper(note_answer):
            yield

    def run(self) -> None:
        nap = min(1.0, self.limit / 4)
        while True:
            time.sleep(nap)
            self.awake += nap
            for what, since in self.busy_since.copy().items():
                if self.awake - since > self.limit:
                    end_process(f"{what}: no answer for {self.limit} s. Ending.")


def end_process(reason: str) -> None:
    """End the process at once. The log itself may block, so it gets one second."""
    say_briefly(lambda: log.critical(reason))
    os._exit(BLOCKED)


def say_briefly(write: Callable[[], object]) -> None:
    """Write to a log that may block, without waiting for it."""
    teller = threading.Thread(target=write, daemon=True)
    teller.start()
    teller.join(timeout=1)


class Heartbeat(threading.Thread):
    """Beats every quarter of the lease, on a connection of its own."""

    def __init__(
        self,
        name: str,
        slots: int,
        lease: timedelta,
        way: str,
        runs: Callable[[], list[Run]],
        watchdog: Watchdog,
        wake: Callable[[], None],
        signs: SignsOfLife,
    ) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self.worker = name
        self.slots = slots
        self.lease = lease
        self.way = way
        self.runs = runs
        self.watchdog = watchdog
        self.wake = wake  # called by the first beat after one that failed
        self.signs = signs
        self.pulse = Pulse(lease.total_seconds())
        self.draining = False
        self.is_well = True
        self.failing: set[type[Job]] = set()  # whose last beat failed
        self.stopped = threading.Event()

    def run(self) -> None:
        sessions.own_connection()
        interval = self.lease.total_seconds() / 4
        due_at = time.monotonic()
        while not self.stopped.wait(max(0.0, due_at - time.monotonic())):
            # At a fixed rate. Beats missed while the process was frozen are not repeated.
            due_at = max(due_at + interval, time.monotonic())
            self.signs.give()
            try:
                with self.watchdog.watch("Beating"):
                    self.beat()
            except Exception as error:
                # Most likely a database fault. Whatever it is, the beat must go on.
                level = logging.DEBUG if isinstance(error, Error) else logging.ERROR
                log.log(level, "No beat: %s", text.message(error), exc_info=error)
                connection.close()
                self.is_well = False
            else:
                if not self.is_well:
                    self.is_well = True
                    self.wake()
            if not self.is_well or self.failing:
                due_at = time.monotonic() + min(1.0, interval / 4)
        connection.close()

    def beat(self) -> None:
        """Beat each model by itself, failing ones last: a locked table costs no other lease."""
        held: dict[type[Job], list[Run]] = defaultdict(list)
        for run in self.runs():
            held[type(run.job)].append(run)
        for model in sorted(held, key=lambda model: model in self.failing):
            try:
                self.beat_model(model, held[model])
                self.failing.discard(model)
            except Error as error:
                if faults.is_servers(error) or faults.is_lost():
                    raise
                self.failing.add(model)
                log.warning("No beat for %s: %s", model._meta.label, error)
        self.failing &= set(held)
        self.describe(running=sum(map(len, held.values())))

    def beat_model(self, model: type[Job], runs: list[Run]) -> None:
        began_at = time.monotonic()
        claims = {run.job.id: run.epoch for run in runs}
        ours = queue.beat(model, claims, self.worker, self.lease)
        for run in runs:
            if run.job.id not in ours and not run.has_ended:
                run.lose("The claim is gone: canceled, or taken over after a pause.")
        # After that: a fresh pulse lets runs start paid calls.
        self.pulse.confirm(model, began_at)

    def describe(self, running: int) -> None:
        """Update this worker's row, and delete the rows of workers that stopped beating."""
        facts = {
            "last_beat_at": Now(),
            "lease_expires_at": Now() + self.lease,
            "running": running,
            "draining": self.draining,
        }
        patience = Patience(locks=self.lease / 8, statements=self.lease / 4)
        with sessions.short_transaction(patience):
            if not Worker.objects.filter(name=self.worker).update(**facts):
                known = {"slots": self.slots, "version": __version__, "way": self.way}
                Worker.objects.create(name=self.worker, **known, **facts)
            Worker.objects.silent_for(self.lease).delete()

    def stop(self, *, is_paying: bool) -> None:
        """Stop beating and end this worker's row.

        While a thread still waits for a paid answer, the row's lease goes on: other workers
        must not take the call for lost.
        """
        self.stopped.set()
        self.join(timeout=5)
        # If the database is down, the row stays and another worker deletes it later.
        with self.watchdog.watch("The last word"), suppress(Error):
            Worker.objects.end(self.worker, self.way, is_paying=is_paying)
