"""A worker: collect, settle, look, claim, over and over, until it is told to stop."""

import logging
import math
import os
import secrets
import socket
import time
from collections.abc import Collection, Sequence
from functools import partial

from django.db import Error, connection

from jobs import queue
from jobs.db import database, sessions
from jobs.models import Job
from jobs.paid import limits
from jobs.queue import wakeup
from jobs.worker.alive import SignsOfLife
from jobs.worker.bounds import Bounds
from jobs.worker.clerk import MANY, Clerk
from jobs.worker.crew import Crew
from jobs.worker.heartbeat import Heartbeat, Watchdog
from jobs.worker.held import OVERSLEPT, Held
from jobs.worker.intake import Intake
from jobs.worker.lookout import Lookout
from jobs.worker.options import Options
from jobs.worker.outage import Outage
from jobs.worker.stopping import Stopping

log = logging.getLogger(__name__)

TURN = "Claiming and settling"
MOST_FAILED_TURNS = 10  # in a row, by anything but the database


class Loop:
    """The main thread of a worker process.

    Only this thread claims and settles, or waits for the clerk that settles. Other threads perform
    (crew), beat (heartbeat), listen (wakeup) and watch (watchdog); they set a field here and ring
    the bell.
    """

    def __init__(self, job_models: Sequence[type[Job]], options: Options) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.options = options
        self.intake = Intake(job_models, options.slots, options.batch)
        self.bell = wakeup.Bell()
        self.crew = Crew(options.slots, self.name, self.bell.ring)
        self.bounds = Bounds(options.seconds, options.jobs)
        self.held = Held(self.crew, self.name, self.bounds)
        self.clerk = Clerk(options.patience)
        self.stopping = Stopping(options.grace_for(job_models))
        self.outage = Outage()
        self.lookout = Lookout(self.name, options, self.intake, self.held, self.outage)
        # A hung thread may keep a connection of the pool. The other threads need some too.
        self.most_hung = max(2, min(options.slots, sessions.POOL_SIZE))
        self.retry_at = -math.inf
        self.signs = SignsOfLife(options.alive_file, is_guest=options.is_guest)
        self.watchdog = Watchdog(options.lease.total_seconds())
        self.heartbeat = Heartbeat(
            self.name,
            options.slots,
            options.lease,
            options.way,
            self.held.to_beat,
            self.watchdog,
            self.come_back,
            self.signs,
        )
        self.listener = wakeup.Listener(self.hear)

    def run(self, *, drain: bool = False) -> int:
        """Work until stopped, or with `drain` until no job is due; returns the exit code."""
        lease = self.options.lease
        on = f" on {database.name()}" if database.name() else ""
        log.info("%s started%s: %d slots, lease %s", self.name, on, self.options.slots, lease)
        self.heartbeat.start()
        if not self.options.is_guest:  # the watchdog would end the process of others
            self.watchdog.start()
            self.listener.start()
        self.signs.begin()
        with sessions.with_patience(self.options.patience):
            while not self.is_done(drain):
                self.turn()
        if self.held:
            log.error("The database can't be used: other workers will rescue the held jobs.")
            self.stopping.exit_code = 1
        self.listener.stopped.set()
        self.clerk.rest()
        self.crew.dismiss()
        self.heartbeat.stop(is_paying=self.crew.is_buying)
        self.signs.end()
        log.info("%s stopped%s.", self.name, self.stopping.by)
        return self.stopping.exit_code

    def turn(self) -> None:
        self.bell.wait(max(0.0, self.next_moment() - time.monotonic()))
        # The whole turn is watched: a log that can't be written would block the jobs too.
        with self.watchdog.watch(TURN):
            try:
                self.collect()
                if time.monotonic() >= self.retry_at:
                    self.work()
            except Exception as error:
                self.come_to_terms(error)

    def work(self) -> None:
        if self.is_hurried():
            # Only a claim: what a look finds may depend on what the clerk has not committed yet.
            with self.clerk.doing(self.settle_beside):
                self.claim()
        else:
            self.clerk.rest_if_idle()
            self.held.settle()
            if self.outage.since is not None:
                for model in self.intake.within_reach():
                    self.lookout.unless_locked(model, self.held.release_unknown)
            self.look_and_claim()
        self.outage.over()

    def settle_beside(self) -> None:
        """Settle in the clerk's thread. Until that is done, the main thread ends no run."""
        with self.watchdog.listen(TURN):
            self.held.settle()

    def is_hurried(self) -> bool:
        """Whether many jobs have ended and more can be claimed: then both happen at once."""
        if self.stopping or self.outage.since is not None or not self.may_claim():
            return False
        if self.lookout.is_time():
            return False
        ended = sum(map(len, self.held.ended.values()))
        return ended >= MANY and self.clerk.is_ready and self.intake.has_room(self.held.counts)

    def look_and_claim(self) -> None:
        if not self.stopping and self.lookout.is_time() and self.lookout.announced:
            self.claim()  # what was announced need not wait for the look
        if not self.stopping:
            self.look()
        if not self.stopping:
            self.claim()

    def come_to_terms(self, error: Exception) -> None:
        """Wait and try again. What is no fault of the database, and stays, ends the worker."""
        connection.close()
        self.retry_at = self.outage.note(error)
        # A turn that asks nothing does not show that the outage is over.
        self.lookout.look_at_all_soon()
        if isinstance(error, Error):
            return
        log.error("A turn of the worker failed", exc_info=error)
        if self.outage.faults >= MOST_FAILED_TURNS:
            self.stopping.exit_code = 1
            self.stopping.has_reason = True

    def next_moment(self) -> float:
        """The moment (monotonic) of the next turn; a ring wakes the thread earlier."""
        if self.outage.since is not None:
            return self.retry_at
        if self.stopping:
            soon = time.monotonic() + self.options.poll
            return soon if self.stopping.is_time_up else min(self.stopping.stop_at, soon)
        if self.may_claim() and self.intake.has_room(self.held.counts):
            return -math.inf
        deadline = min((run.deadline for run in self.held.runs.values()), default=math.inf)
        return min(self.lookout.look_at, deadline, self.bounds.ends_at)

    # Called by other threads and by signals

    def stop(self, number: int | None = None, *_: object) -> None:
        """First call: finish what runs. Second call: release it now. Called by signals."""
        self.stopping.hear(number)
        self.bell.ring()

    def hear(self, kinds: Collection[str]) -> None:
        """Jobs of these kinds were announced, or of any. Called by the listener's thread."""
        self.lookout.notices.put(kinds)
        self.bell.ring()

    def come_back(self) -> None:
        """A beat succeeded after an outage: settle before other workers rescue the jobs."""
        self.retry_at = -math.inf
        self.bell.ring()

    # collect: runs that ended since the last turn, by themselves or because the worker gives up

    def collect(self) -> None:
        for run in self.held.collect():
            self.intake.note_pace(type(run.job), run.seconds)
        self.intake.takers = max(1, self.crew.brief_takers)
        self.held.time_out()
        for run in self.held.give_back_overslept():
            self.intake.pace[type(run.job)] = OVERSLEPT
        hung = len(self.crew.hung)
        if hung >= self.most_hung and not self.stopping.exit_code:
            log.critical("%d threads hang: the worker ends.", hung)
            self.stopping.exit_code = 1
            self.stopping.has_reason = True
        if self.bounds.is_time_up and not self.stopping:
            log.info("The worker's time is up.")
            self.stopping.has_reason = True
        if self.stopping:
            self.give_back()
        if self.held.ended:
            self.lookout.is_fresh = False  # a job that waited for a token may start now

    def give_back(self) -> None:
        if not self.heartbeat.draining:
            self.heartbeat.draining = True
            self.signs.stop()
            by, grace = self.stopping.by, self.stopping.grace
            log.info("Stopping%s: running jobs have up to %.0f s.", by, grace)
        self.stopping.begin()
        self.held.give_back(self.stopping)

    # look: find out what there is to do

    def look(self) -> None:
        found = self.lookout.look()
        if found and found.should_stop:
            log.info("A person has asked this worker to stop.")
            self.stopping.has_reason = True
            self.bell.ring()

    # claim: fill the free slots

    def claim(self) -> None:
        while self.intake.suspects and not self.held.runs:
            self.lookout.unless_locked(self.intake.suspects.pop(), self.start_suspect)
        if not self.may_claim():
            return
        for model, wanted in self.intake.share_out(self.held.counts):
            self.lookout.unless_locked(model, partial(self.fill, wanted=wanted))

    def fill(self, model: type[Job], wanted: int) -> None:
        has_enough = self.start(model, wanted) == wanted
        # Beside the clerk, jobs that have ended still take the room of their provider.
        if not has_enough and not (self.clerk.is_at_work and model.provider_names()):
            self.intake.hungry.discard(model)

    def start_suspect(self, model: type[Job]) -> None:
        self.start(model, 1, suspect=True)

    def may_claim(self) -> bool:
        """Whether other jobs may be claimed now: not while a suspect runs, nor while one waits.

        A suspect may kill this worker and interrupt every job beside it. A waiting suspect
        starts when this worker is empty; with new claims that moment would never come.
        """
        return not self.intake.suspects and not self.held.is_alone

    def start(self, model: type[Job], wanted: int, *, suspect: bool = False) -> int:
        claimed_at = time.monotonic()
        wanted = self.bounds.share_of(wanted)
        if not wanted or not self.has_time(model):
            return 0
        # Suspects have an index of their own, and few entries in it.
        front = None if suspect else self.lookout.fronts[model]
        jobs = queue.claim(
            *(model, wanted, self.name, self.options.lease),
            suspect=suspect,
            front=front,
            time_left=self.bounds.time_left,
        )
        self.bounds.claimed += len(jobs)
        is_brief = self.intake.is_brief(model)
        self.held.take(jobs, self.heartbeat.pulse, claimed_at, alone=suspect, is_brief=is_brief)
        if jobs:
            self.lookout.is_fresh = False
        return len(jobs)

    def has_time(self, model: type[Job]) -> bool:
        """Whether a paid call of this model would be answered before the worker's time is up."""
        if self.bounds.ends_at == math.inf:
            return True
        with sessions.short_transaction():
            return limits.has_time(model, self.bounds.time_left)

    # done

    def is_done(self, drain: bool) -> bool:
        if self.held:
            # Wait for a lost database; a stopping worker waits for at most one lease.
            give_up_at = self.stopping.stop_at + self.options.lease.total_seconds()
            is_stuck = self.outage.since is not None or not self.held.runs
            return is_stuck and time.monotonic() > give_up_at
        if self.crew.is_paying and not self.stopping.is_urgent:
            return False  # the answer is paid for, even if another worker has the job by now
        if self.stopping:
            return True
        if drain and not self.lookout.is_fresh:
            self.lookout.look_once_more()
        return drain and self.lookout.is_fresh and self.intake.is_fed
