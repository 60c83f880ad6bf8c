"""A worker: claim, run, settle, over and over, until it is told to stop."""

import logging
import math
import os
import random
import secrets
import socket
import time
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db import Error, connection

from jobs import queue
from jobs.db import sessions
from jobs.errors import LeaseLost, TimedOut
from jobs.models import Attempt, Job, Outcome
from jobs.paid import waiting
from jobs.queue import outcomes, wakeup
from jobs.queue.outcomes import End
from jobs.run import Run
from jobs.worker import logs, survey
from jobs.worker.crew import Crew
from jobs.worker.heartbeat import Heartbeat, Watchdog

log = logging.getLogger(__name__)

AHEAD = 0.1  # how many seconds' worth of quick jobs is held beyond the slots
OVERSLEPT = 2.0  # seconds after which a job claimed ahead and not begun is given back
LOUD = (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.LOST)


class Worker:
    """One process's share of the work.

    This thread alone claims and settles. Others perform (crew), beat (heartbeat), listen
    (wakeup) and watch (watchdog); they leave word here and ring the bell.
    """

    def __init__(
        self,
        job_models: Sequence[type[Job]],
        *,
        slots: int = 8,
        batch: int = 500,
        poll: float = 1.0,
        lease: float = 60.0,
        grace: float | None = None,
    ) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.models = deque(job_models)
        self.slots = slots
        self.batch = batch
        self.poll = poll
        self.lease = timedelta(seconds=lease)
        longest = max((model.timeout.total_seconds() for model in job_models), default=0)
        self.grace = longest + 5 if grace is None else grace

        self.runs: dict[UUID, Run] = {}  # claimed and not ended
        self.held: Counter[type[Job]] = Counter()  # how many of them are of which model
        self.ends: dict[type[Job], list[End]] = defaultdict(list)  # ended and not settled
        self.hungry = set(job_models)  # may have due jobs
        self.suspects: list[type[Job]] = []  # have a job that must run alone
        self.alone: Run | None = None
        self.out_of_tokens: list[type[Job]] = []  # have due jobs, and may start them in a while
        self.seconds: dict[type[Job], float] = {}  # that a job takes, lately
        # Hung threads may keep their connections of the pool; the others need some.
        self.most_hung = max(2, min(slots, sessions.POOL_SIZE))
        # After an outage living workers beat first, then the dead ones' jobs are rescued.
        self.mercy = min(3.0, lease / 3)
        self.look_at = self.retry_at = -math.inf
        self.looked = False  # since something was last done
        self.announced = False
        self.stop_requests = 0
        self.stop_at = math.inf
        self.exit_code = 0

        self.bell = wakeup.Bell()
        self.watchdog = Watchdog(lease)
        self.heartbeat = Heartbeat(
            self.name, slots, self.lease, lambda: list(self.runs.values()), self.watchdog
        )
        self.listener = wakeup.Listener(self.hear)
        self.crew = Crew(slots, self.name, self.bell.ring)
        self.outage = sessions.Outage()

    def run(self, *, drain: bool = False) -> int:
        """Work until stopped, or with `drain` until nothing is due; returns the exit code."""
        sessions.PATIENCE = min(sessions.PATIENCE, self.lease / 4)
        log.info("%s started: %d slots, lease %s", self.name, self.slots, self.lease)
        for thread in (self.watchdog, self.heartbeat, self.listener):
            thread.start()
        while not self.is_done(drain):
            self.turn()
        if self.runs or self.ends:
            log.error("The database can't be used: what is held will be rescued by others.")
            self.exit_code = 1
        self.listener.stopped.set()
        self.heartbeat.stop()
        log.info("%s stopped.", self.name)
        return self.exit_code

    def turn(self) -> None:
        self.bell.wait(max(0.0, self.next_moment() - time.monotonic()))
        self.collect()
        if time.monotonic() < self.retry_at:
            return
        try:
            with self.watchdog.watch("Claiming and settling"):
                self.settle()
                if not self.stop_requests:
                    self.look()
                if not self.stop_requests:
                    self.claim()
            self.outage.over()
        except Error as error:
            connection.close()
            self.retry_at = self.outage.note(error)

    def next_moment(self) -> float:
        """When there is something to do, unless somebody wakes us before."""
        if self.outage.since is not None:
            return self.retry_at
        if self.stop_requests:
            soon = time.monotonic() + self.poll
            return min(self.stop_at, soon) if time.monotonic() < self.stop_at else soon
        if self.may_claim() and any(self.room(model) > 0 for model in self.hungry):
            return -math.inf
        deadline = min((run.deadline for run in self.runs.values()), default=math.inf)
        return min(self.look_at, deadline)

    def stop(self, *_: object) -> None:
        """Once: finish what runs. Twice: give it back now. Called by signals."""
        self.stop_requests += 1
        self.bell.ring()

    def hear(self) -> None:
        """Jobs were announced. Called by the listener's thread."""
        self.announced = True
        self.bell.ring()

    # collect: what has ended since the last turn, by itself or because we give it up

    def collect(self) -> None:
        for run, end in self.crew.take_ended():
            self.note_pace(run)
            self.end(run, end)
        now = time.monotonic()
        for run in list(self.runs.values()):
            if now > run.deadline and run.end_once():
                self.crew.write_off(run)
                error = TimedOut(f"Still running after {now + run.seconds:.0f} s.")
                self.end(run, outcomes.failure(run.job, error, Outcome.TIMED_OUT))
            elif now > run.claimed_at + OVERSLEPT and run.begin_once():
                # Claimed ahead of jobs that turned out slow: others may have a free slot.
                self.seconds[type(run.job)] = OVERSLEPT
                self.end(run, release(run, "It waited too long for a free slot."))
        if len(self.crew.written_off) >= self.most_hung and not self.exit_code:
            log.critical("%d threads hang: ending.", len(self.crew.written_off))
            self.exit_code = 1
            self.stop_requests += 1
        if self.stop_requests:
            self.give_back()

    def end(self, run: Run, end: End) -> None:
        end.steps, end.has_answer = run.steps, run.has_answer
        self.ends[type(run.job)].append(end)
        self.looked = False  # who waited for its token may start now
        if self.runs.get(run.job.id) is run:
            del self.runs[run.job.id]
            self.held[type(run.job)] -= 1

    def note_pace(self, run: Run) -> None:
        known = self.seconds.get(type(run.job), run.seconds)
        self.seconds[type(run.job)] = 0.9 * known + 0.1 * run.seconds

    def give_back(self) -> None:
        """Release what has not begun; when the time is up, also what has."""
        if not self.heartbeat.draining:
            self.heartbeat.draining = True
            self.stop_at = time.monotonic() + self.grace
            log.info("Stopping: up to %.0f s for what runs.", self.grace)
        if self.stop_requests > 1:
            self.stop_at = min(self.stop_at, time.monotonic())
        reason = "The worker is stopping."
        for run in list(self.runs.values()):
            run.stop(reason)
            if run.begin_once() or (self.is_up(run) and run.end_once()):
                self.end(run, release(run, reason))

    def is_up(self, run: Run) -> bool:
        """Whether a run has had its time to finish; what is being paid for is waited for."""
        if run.is_paying and self.stop_requests == 1:
            return False
        return time.monotonic() >= self.stop_at

    # settle: write what has ended

    def settle(self) -> None:
        for model in list(self.ends):
            missed = queue.settle(self.ends[model])
            ends = self.ends.pop(model)
            if busy := [end for end in missed if end.is_busy]:
                self.ends[model] = busy  # again at the next turn
            for end in ends:
                if end not in busy:
                    self.report(end, end in missed)

    def report(self, end: End, missed: bool) -> None:
        loud = end.outcome in LOUD
        level = logging.WARNING if missed or loud else logging.INFO
        if not log.isEnabledFor(level):
            return
        with logs.about(end.job, self.name):
            if missed and not self.has_recorded(end):
                log.warning("%s, but the claim was gone: dropped", end.outcome)
            else:
                said = f": {end.error}" if end.error else ""
                log.log(level, "%s%s", end.outcome, said, exc_info=end.error if loud else None)

    def has_recorded(self, end: End) -> bool:
        """Whether it was our own write that ended the claim, and only its reply was lost."""
        # Who took the claim from us has recorded it under our name too, but not with our outcome.
        return Attempt.objects.filter(
            job_id=end.job.pk, epoch=end.job.epoch, worker=self.name, outcome=end.outcome
        ).exists()

    # look: what is there to do?

    def look(self) -> None:
        """One query for all models: due jobs, suspects, and what dead workers left behind."""
        now = time.monotonic()
        if self.announced:
            # Look again a little later, for what was committed but not announced by itself.
            self.announced = False
            self.hungry.update(self.models)
            self.look_at = min(self.look_at, now + 1.5 * wakeup.PAUSE)
        if now < self.look_at:
            return
        self.look_at = now + self.poll * random.uniform(1, 1.25)
        self.looked = True
        found, should_stop = survey.ask(self.models, self.name)
        if should_stop:
            log.info("A person has asked this worker to stop.")
            self.stop()
            return
        due = [model for model in self.models if found[model, "due"]]
        self.hungry.update(due)
        waits = {model: waiting.closed_for(model) for model in due}
        self.out_of_tokens = [model for model, wait in waits.items() if wait and wait.is_short]
        # One worker is enough to empty itself for a suspect: chance decides which.
        if self.suspects or not self.runs or random.random() < 0.2:
            self.suspects = [
                model
                for model in self.models
                if found[model, "suspect"] and not waiting.closed_for(model)
            ]
        for model in self.models:
            if found[model, "expired"] and now > self.outage.over_at + self.mercy:
                for end in queue.rescue(model, spared=self.runs):
                    self.report(end, missed=False)

    # claim: fill the free slots

    def claim(self) -> None:
        if self.suspects and not self.runs:
            self.start(self.suspects.pop(), 1, suspect=True)
        if not self.may_claim():
            return
        self.models.rotate(1)
        hungry = [model for model in self.models if model in self.hungry]
        for position, model in enumerate(hungry):
            # Fairly: each gets its share of the room, the last what the others left.
            share = math.ceil(self.room(model) / (len(hungry) - position))
            if share > 0:
                wanted = min(share, self.batch)
                if self.start(model, wanted) < wanted:
                    self.hungry.discard(model)

    def may_claim(self) -> bool:
        """Not beside a suspect: what two workers did not survive takes no neighbours along.

        Nor while one waits for us to have nothing else, or it would wait for ever.
        """
        return not self.suspects and self.alone not in self.runs.values()

    def room(self, model: type[Job]) -> int:
        """How many jobs of this model to claim now.

        Free slots, or a fair share of them while other models' quick jobs wait in line. And of
        quick jobs without a provider, what the slots will get through in the next moment, so
        that no slot waits for a claim; but never a few at a time of those.
        """
        free = self.slots - len(self.runs)
        share = math.ceil(self.slots / max(len(self.hungry), 1)) - self.held[model]
        seconds = self.seconds.get(model)
        if seconds is None or model.provider_name() is not None:
            return max(free, share)
        ahead = min(self.batch, int(self.slots * AHEAD / max(seconds, 1e-6)))
        return max(share, free + ahead if free + ahead >= ahead / 2 else 0)

    def start(self, model: type[Job], wanted: int, *, suspect: bool = False) -> int:
        claimed_at = time.monotonic()
        jobs = queue.claim(model, wanted, self.name, self.lease, suspect=suspect)
        for job in jobs:
            if old := self.runs.pop(job.id, None):
                self.abandon(old)
            run = self.runs[job.id] = Run(job, self.heartbeat.pulse, claimed_at)
            self.held[model] += 1
            self.crew.hand_over(run)
            self.looked = False
            self.alone = run if suspect else None
        return len(jobs)

    def abandon(self, run: Run) -> None:
        """The job was taken from us and is now ours again: the old run must not go on."""
        self.held[type(run.job)] -= 1
        run.lose("The job was claimed anew.")
        if not run.begin_once() and run.end_once():
            self.crew.write_off(run)

    # done?

    def is_done(self, drain: bool) -> bool:
        if self.runs or self.ends:
            # Without a database we wait for it; when we should stop, for one lease.
            patience = self.stop_at + self.lease.total_seconds()
            return self.outage.since is not None and time.monotonic() > patience
        if self.stop_requests:
            return True
        if drain and not self.looked:
            self.look_at = -math.inf
        is_fed = not (self.hungry or self.suspects or self.out_of_tokens)
        return drain and self.looked and is_fed


def release(run: Run, reason: str) -> End:
    return End(run.job, Outcome.RELEASED, error=LeaseLost(reason))
