"""What a worker looks for: due jobs, jobs that wait for a token, jobs that lost their worker.

Every few seconds it also looks at the schedules, at all of them: the jobs that it enqueues may be
for workers with other `--jobs`.
"""

import logging
import math
import random
import time
from collections.abc import Callable
from functools import partial

from django.db import Error

from jobs import queue
from jobs.db import faults, sessions
from jobs.models import Job
from jobs.paid.waiting import Wait, closed_for
from jobs.queue import wakeup
from jobs.schedules.looking import Looker
from jobs.worker import journal, survey
from jobs.worker.alone import Reservation
from jobs.worker.held import Held
from jobs.worker.intake import Intake
from jobs.worker.options import Options
from jobs.worker.outage import Outage

log = logging.getLogger(__name__)

SCHEDULES = 5.0  # seconds between two looks at the schedules


class Lookout:
    """Looks at every poll, and soon after jobs were announced; tells the intake what it found."""

    def __init__(
        self, worker: str, options: Options, intake: Intake, held: Held, outage: Outage
    ) -> None:
        self.worker = worker
        self.poll = options.poll
        self.intake = intake
        self.held = held
        self.outage = outage
        self.reservation = Reservation(worker)
        # Seconds without rescues after an outage: live workers need time to renew their leases.
        self.mercy = min(10.0, options.lease.total_seconds() / 2)
        self.looker = Looker()
        self.look_at = -math.inf
        self.schedules_at = -math.inf
        self.is_fresh = False  # whether it looked since the worker last did something
        self.announced = False

    def hurry(self, seconds: float) -> None:
        self.look_at = min(self.look_at, time.monotonic() + seconds)

    def look_once_more(self) -> None:
        """Look soon, at schedules too: a worker that drains ends only if nothing is due."""
        self.schedules_at = -math.inf
        self.hurry(0.02)

    def look(self) -> survey.Found | None:
        """One query for all models, if it is time: due jobs, suspects, and jobs of dead workers."""
        if self.announced:
            # Look again a little later: a job committed right after a notice sends no notice.
            self.announced = False
            self.intake.hungry.update(self.intake.models)
            self.hurry(1.5 * wakeup.PAUSE)
        now = time.monotonic()
        if now < self.look_at:
            return None
        self.look_at = now + self.poll * random.uniform(1, 1.25)
        self.look_at_schedules(now)
        found = survey.ask(self.intake.within_reach(), self.worker)
        self.is_fresh = not found.is_guess
        for model in found.out_of_reach:
            self.intake.put_aside(model)
        if not found.should_stop:
            self.learn(found)
            self.rescue(found, now)
        return found

    def look_at_schedules(self, now: float) -> None:
        """Enqueue what is due by schedule. If their table is locked or broken, the jobs go on."""
        if now < self.schedules_at:
            return
        self.schedules_at = now + SCHEDULES * random.uniform(0.8, 1)
        try:
            self.looker.look()
        except Error as error:
            if faults.is_servers(error) or faults.is_lost():
                raise
            log.warning("The schedules are left alone for a while: %s", error)

    def learn(self, found: survey.Found) -> None:
        self.intake.hungry.update(found.due)
        waits: dict[type[Job], Wait | None] = {}
        for model in {*found.due, *found.suspect}:
            self.unless_locked(model, partial(self.note_wait, waits))
        self.intake.out_of_tokens = [
            model for model in found.due if (wait := waits.get(model)) and wait.is_short
        ]
        suspects = [model for model in found.suspect if waits.get(model, True) is None]
        self.intake.suspects = self.reservation.choose(suspects, is_idle=not self.held.runs)

    def note_wait(self, waits: dict[type[Job], Wait | None], model: type[Job]) -> None:
        with sessions.short_transaction():
            waits[model] = closed_for(model)

    def rescue(self, found: survey.Found, now: float) -> None:
        # Not in the turn that ends an outage either: its end is noted when the turn is over.
        if self.outage.since is None and now > self.outage.over_at + self.mercy:
            for model in found.expired:
                self.unless_locked(model, self.rescue_jobs_of)

    def rescue_jobs_of(self, model: type[Job]) -> None:
        ours = {run.job.id for run in self.held.to_beat()}
        for end in queue.rescue(model, spared=ours):
            journal.report(end, self.worker)

    def unless_locked(self, model: type[Job], move: Callable[[type[Job]], None]) -> None:
        """Make a move of one model. If its table is locked or broken, the other models go on."""
        try:
            move(model)
        except Error as error:
            if faults.is_servers(error) or faults.is_lost():
                raise
            log.warning("%s is left alone for a while: %s", model._meta.label, error)
            self.intake.put_aside(model)
