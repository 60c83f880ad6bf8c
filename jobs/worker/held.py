"""What this worker holds, from the claim until it is settled."""

import logging
import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import Error

from jobs import queue
from jobs.db import faults
from jobs.errors import LeaseLost, TimedOut
from jobs.models import Job, Outcome
from jobs.queue import outcomes
from jobs.queue.outcomes import End
from jobs.run import Pulse, Run
from jobs.worker import journal
from jobs.worker.crew import Crew
from jobs.worker.stopping import Stopping

log = logging.getLogger(__name__)

LONGEST_PAUSE = 5.0  # seconds between tries to settle what is locked
OVERSLEPT = 2.0  # seconds after which a job claimed ahead and not begun is given back


class Held:
    def __init__(self, crew: Crew, worker: str) -> None:
        self.crew = crew
        self.worker = worker
        self.runs: dict[UUID, Run] = {}  # claimed and not ended
        self.counts: Counter[type[Job]] = Counter()  # how many of them are of which model
        self.ended: dict[type[Job], list[Ended]] = defaultdict(list)  # and not settled
        self.alone: Run | None = None  # a suspect, which takes no neighbours along

    def __bool__(self) -> bool:
        return bool(self.runs or self.ended)

    @property
    def is_alone(self) -> bool:
        return self.alone in self.runs.values()

    def to_beat(self) -> list[Run]:
        """Whose leases must be kept: what runs, and results that could not be settled at once."""
        # Copied first: this is asked by the heartbeat's thread.
        unsettled = [each for ended in list(self.ended.values()) for each in list(ended)]
        return [*self.runs.values(), *(each.run for each in unsettled if each.tries)]

    # Claimed

    def take(self, jobs: Iterable[Job], pulse: Pulse, claimed_at: float, *, alone: bool) -> None:
        """Hold these claims, and let the crew perform them."""
        for job in jobs:
            run = Run(job, pulse, claimed_at)
            if old := self.runs.pop(job.id, None):
                self.abandon(old)
            self.runs[job.id] = run
            self.counts[type(job)] += 1
            self.alone = run if alone else None
            self.crew.hand_over(run)

    def abandon(self, run: Run) -> None:
        """The job was taken from us and is now ours again: the old run must not go on."""
        self.counts[type(run.job)] -= 1
        run.lose("The job was claimed anew.")
        if not run.begin_once() and run.end_once():
            self.crew.give_up(run, self.crew.abandoned)

    # Ended: by itself, or because we give it up

    def collect(self) -> list[Run]:
        """What has returned since the last time."""
        ended = self.crew.take_ended()
        for run, end in ended:
            self.end(run, end)
        return [run for run, _ in ended]

    def time_out(self) -> None:
        now = time.monotonic()
        for run in list(self.runs.values()):
            if now > run.deadline and run.end_once():
                self.crew.give_up(run, self.crew.hung)
                error = TimedOut(f"Still running after {now + run.seconds:.0f} s.")
                self.end(run, outcomes.failure(run.job, error, Outcome.TIMED_OUT))

    def give_back_overslept(self) -> list[Run]:
        """Claimed ahead of jobs that turned out slow: other workers may have a free slot."""
        since = time.monotonic() - OVERSLEPT
        late = [run for run in self.runs.values() if run.claimed_at < since and run.begin_once()]
        for run in late:
            self.end(run, release(run, "It waited too long for a free slot."))
        return late

    def give_back(self, stopping: Stopping) -> None:
        """Release what has not begun; when the time is up, also what has."""
        reason = "The worker is stopping."
        for run in list(self.runs.values()):
            run.stop(reason)
            # What is being paid for is waited for, unless we must hurry.
            may_end = stopping.is_time_up and (stopping.is_urgent or not run.is_paying)
            if run.begin_once() or (may_end and run.end_once()):
                self.end(run, release(run, reason))

    def end(self, run: Run, end: End) -> None:
        """From now on it waits to be settled."""
        end.steps, end.has_answer = run.steps, run.has_answer
        self.ended[type(run.job)].append(Ended(run, end))
        if self.runs.get(run.job.id) is run:
            del self.runs[run.job.id]
            self.counts[type(run.job)] -= 1

    # Settled

    def settle(self) -> None:
        """Write how the ended ones ended. What is locked is left for a later turn."""
        for model in list(self.ended):
            now = time.monotonic()
            ready = [each for each in self.ended[model] if each.not_before <= now]
            if ready:
                self._settle(model, ready)

    def _settle(self, model: type[Job], ready: list["Ended"]) -> None:
        for each in ready:
            each.tries += 1
            each.end.is_busy = False
        try:
            missed = queue.settle([each.end for each in ready])
        except Error as error:
            if not faults.is_conflict(error):
                raise
            log.warning("%s can't be settled yet: %s", model._meta.label, error)
            for each in ready:
                each.put_off()
            return
        written = []
        for each in ready:
            each.put_off() if each.end.is_busy else written.append(each)
        self.ended[model] = [each for each in self.ended[model] if each not in written]
        if not self.ended[model]:
            del self.ended[model]
        for each in written:
            journal.report(each.end, self.worker, missed=each.end in missed)


@dataclass(eq=False)
class Ended:
    """A run that has ended, and how, until that is written."""

    run: Run
    end: End
    tries: int = 0
    pause: float = 0.05
    not_before: float = -math.inf  # monotonic

    def put_off(self) -> None:
        """Its row, or what its hook needs, is locked: try again after a growing pause."""
        self.pause = min(2 * self.pause, LONGEST_PAUSE)
        self.not_before = time.monotonic() + self.pause


def release(run: Run, reason: str) -> End:
    return End(run.job, Outcome.RELEASED, error=LeaseLost(reason))
