"""The jobs that this worker holds, from the claim until they are settled."""

import logging
import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import Error

from jobs import queue
from jobs.db import faults, sessions
from jobs.errors import LeaseLost, TimedOut
from jobs.models import Job, Outcome
from jobs.queue import outcomes
from jobs.queue.outcomes import End
from jobs.run import Pulse, Run
from jobs.worker import journal
from jobs.worker.bounds import Bounds
from jobs.worker.crew import Crew
from jobs.worker.stopping import Stopping

log = logging.getLogger(__name__)

LONGEST_PAUSE = 5.0  # seconds between tries to settle a locked job
OVERSLEPT = 2.0  # seconds after which a job claimed ahead and not started is released


class Held:
    def __init__(self, crew: Crew, worker: str, bounds: Bounds) -> None:
        self.crew = crew
        self.worker = worker
        self.bounds = bounds
        self.runs: dict[UUID, Run] = {}  # claimed and not ended
        self.counts: Counter[type[Job]] = Counter()  # of `runs`, per model
        self.ended: dict[type[Job], list[Ended]] = defaultdict(list)  # not settled yet
        self.alone: Run | None = None  # a suspect, beside which no job runs
        self.outcomes: Counter[Outcome] = Counter()  # of all claims that were settled

    def __bool__(self) -> bool:
        return bool(self.runs or self.ended)

    @property
    def is_alone(self) -> bool:
        return self.alone in self.runs.values()

    def to_beat(self) -> list[Run]:
        """Runs whose leases must be extended: open ones, and ended ones until they are settled."""
        # Copied first, because the heartbeat's thread calls this; `runs` first of all, so that a
        # job that was settled and claimed anew meanwhile is not listed by both of its claims.
        runs = self.runs.copy()
        unsettled = [each for ended in list(self.ended.values()) for each in list(ended)]
        ended = [each.run for each in unsettled if each.run.job.id not in runs]
        return [*runs.values(), *ended]

    # Claimed

    def take(
        self,
        jobs: Iterable[Job],
        pulse: Pulse,
        claimed_at: float,
        *,
        alone: bool,
        is_brief: bool = False,
    ) -> None:
        """Hold these claims, and let the crew perform them."""
        hand_over = self.crew.hand_over_brief if is_brief else self.crew.hand_over
        for job in jobs:
            run = Run(job, pulse, claimed_at, self.bounds.ends_at)
            if old := self.runs.pop(job.id, None):
                self.abandon(old)
            self.runs[job.id] = run
            self.counts[type(job)] += 1
            self.alone = run if alone else None
            hand_over(run)

    def abandon(self, run: Run) -> None:
        """The worker lost this job and claimed it again: the old run must not go on."""
        self.counts[type(run.job)] -= 1
        run.lose("The job was claimed anew.")
        if not run.begin_once() and run.end_once():
            self.crew.give_up(run, self.crew.abandoned)

    def release_unknown(self, model: type[Job]) -> None:
        """Release claims that this worker made, but whose COMMIT it got no reply to.

        Nobody performs them, and only this worker can tell before their leases end.
        """
        known = {run.job.id for run in self.to_beat()}
        with sessions.short_transaction():
            ours = list(model.objects.processing().filter(locked_by=self.worker))
        reason = "The database was lost during the claim."
        ends = [released(job, reason) for job in ours if job.id not in known]
        missed = queue.settle(ends)
        for end in ends:
            if end not in missed:
                journal.report(end, self.worker)

    # Ended: by itself, or because the worker gives up

    def collect(self) -> list[Run]:
        """Take the runs that returned since the last turn."""
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
        """Release jobs that wait behind slow ones: another worker may have a free slot."""
        since = time.monotonic() - OVERSLEPT
        late = [run for run in self.runs.values() if run.claimed_at < since and run.begin_once()]
        for run in late:
            self.end(run, released(run.job, "It waited too long for a free slot."))
        return late

    def give_back(self, stopping: Stopping) -> None:
        """Release the jobs that have not started; when the time is up, the running ones too."""
        reason = "The worker is stopping."
        for run in list(self.runs.values()):
            run.stop(reason)
            # A run with an open paid call may finish, unless the stop is urgent.
            may_end = stopping.is_time_up and (stopping.is_urgent or not run.is_paying)
            if run.begin_once() or (may_end and run.end_once()):
                self.end(run, released(run.job, reason))

    def end(self, run: Run, end: End) -> None:
        """Move a run from `runs` to `ended`, where it waits to be settled."""
        end.steps, end.has_answer = run.steps, run.has_answer
        self.ended[type(run.job)].append(Ended(run, end))
        if self.runs.get(run.job.id) is run:
            del self.runs[run.job.id]
            self.counts[type(run.job)] -= 1

    # Settled

    def settle(self) -> None:
        """Write the ends of ended runs. What is locked is left for a later turn."""
        for model in list(self.ended):
            now = time.monotonic()
            ready = [each for each in self.ended[model] if each.not_before <= now]
            try:
                self._settle(model, ready)
            except Error as error:
                if not faults.is_in_the_way(error):
                    raise
                log.warning("%s can't be settled yet: %s", model._meta.label, error)
                for each in ready:
                    each.put_off()

    def _settle(self, model: type[Job], ready: list["Ended"]) -> None:
        for each in ready:
            each.end.is_busy = False
        missed = set(queue.settle([each.end for each in ready]))
        written = {each for each in ready if not each.end.is_busy}
        for each in set(ready) - written:
            each.put_off()
        self.ended[model] = [each for each in self.ended[model] if each not in written]
        if not self.ended[model]:
            del self.ended[model]
        for each in [each for each in ready if each in written]:
            self.outcomes[Outcome.LOST if each.end in missed else each.end.outcome] += 1
            journal.report(each.end, self.worker, missed=each.end in missed)


@dataclass(eq=False)
class Ended:
    """A run and its end, until the end is written."""

    run: Run
    end: End
    pause: float = 0.05
    not_before: float = -math.inf  # monotonic

    def put_off(self) -> None:
        """Its row, or a row that its hook needs, is locked: try again after a growing pause."""
        self.pause = min(2 * self.pause, LONGEST_PAUSE)
        self.not_before = time.monotonic() + self.pause


def released(job: Job, reason: str) -> End:
    return End(job, Outcome.RELEASED, error=LeaseLost(reason))
