"""What a worker looks for: due jobs, jobs that wait for a token, jobs that lost their worker.

Every few seconds it also looks at the schedules, at all of them: the jobs that it enqueues may be
for workers with other `--jobs`.
"""

import logging
import math
import random
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue

from django.db import Error

from jobs import queue
from jobs.db import faults, sessions
from jobs.models import Job, job_models
from jobs.paid.waiting import Wait, closed_for
from jobs.queue import wakeup
from jobs.queue.front import Front, pause_after
from jobs.schedules.looking import Looker
from jobs.worker import journal, survey
from jobs.worker.alone import Reservation
from jobs.worker.held import Held
from jobs.worker.intake import Intake
from jobs.worker.options import Options
from jobs.worker.outage import Outage

log = logging.getLogger(__name__)

SCHEDULES = 5.0  # seconds between two looks at the schedules
FEW = 10  # models that are asked together, or claimed from without asking

Model = type[Job]


class Lookout:
    """Looks at every poll, and soon after jobs were announced; tells the intake what it found.

    At a poll it asks everything about every model. If that was slow, because there are a hundred
    models or because an old snapshot is open, there is a pause after it, and the polls until then
    ask less: which of a few models have due jobs that are new.
    """

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
        self.look_at_all_at = -math.inf
        self.schedules_at = -math.inf
        self.is_fresh = False  # whether it looked at all since the worker last did something
        self.fronts: defaultdict[Model, Front] = defaultdict(Front)
        self.notices: SimpleQueue[Collection[str]] = SimpleQueue()
        self.announced: set[Model] = set()
        self.turns = deque(intake.models)  # in which order partial looks ask about models
        self.kinds = {model._meta.label for model in job_models()}

    def hurry(self, seconds: float) -> None:
        self.look_at = min(self.look_at, time.monotonic() + seconds)

    def look_at_all_soon(self, seconds: float = 0.0) -> None:
        self.look_at_all_at = -math.inf
        self.hurry(seconds)

    def look_once_more(self) -> None:
        """Look soon, at schedules too: a worker that drains ends only if nothing is due."""
        self.schedules_at = -math.inf
        self.look_at_all_soon(0.02)

    def heed_notices(self) -> None:
        """Let what was announced be claimed, and look again a little later.

        A job that is committed right after a notice sends no notice.
        """
        named: set[Model] = set()
        with suppress(Empty):
            while True:
                named |= self.named(self.notices.get_nowait())
        if not named:
            return
        if len(named) <= FEW:
            self.intake.hungry |= named.intersection(self.intake.within_reach())
        self.announced |= named
        self.hurry(1.5 * wakeup.PAUSE)

    def named(self, kinds: Collection[str]) -> set[Model]:
        """The models of this worker that a notice is about: all, if it names none or a stranger."""
        if not kinds or not self.kinds.issuperset(kinds):
            return set(self.intake.models)
        return {model for model in self.intake.models if model._meta.label in kinds}

    def is_time(self) -> bool:
        """Whether to look now, also because of notices that have come."""
        self.heed_notices()
        return time.monotonic() >= self.look_at

    def look(self) -> survey.Found | None:
        """If it is time, ask what there is to do."""
        if not self.is_time():
            return None
        now = time.monotonic()
        self.look_at = now + self.poll * random.uniform(1, 1.25)
        self.look_at_schedules(now)
        found = self.look_at_all(now) if now >= self.look_at_all_at else self.look_at_some()
        self.announced.clear()
        self.look_at = min(self.look_at, self.look_at_all_at)
        for model in found.out_of_reach:
            self.intake.put_aside(model)
        return found

    def look_at_all(self, now: float) -> survey.Found:
        models = self.intake.within_reach()
        found = survey.ask(models, self.worker)
        self.is_fresh = True
        pause = pause_after(found.seconds)
        self.look_at_all_at = max(self.look_at, time.monotonic() + pause)
        if self.look_at_all_at > self.look_at:  # some polls will ask less
            for model in set(models) - set(found.out_of_reach):
                self.fronts[model].rest(pause, None if model in found.due else found.now)
        for model in found.due:  # it may have been found before the front
            self.fronts[model].begin_anew()
        if not found.should_stop:
            self.learn(found)
            self.rescue(found, now)
        return found

    def look_at_some(self) -> survey.Found:
        """Ask about the models that were announced, or else about a few more of them in turn."""
        self.turns.rotate(-FEW)
        asked = self.announced or list(self.turns)[:FEW]
        reach = self.intake.within_reach()
        fronts = {model: self.fronts[model] for model in reach if model in asked}
        found = survey.ask_from(fronts, self.worker)
        self.intake.hungry.update(found.due)
        for model in fronts.keys() - set(found.due) - set(found.out_of_reach):
            self.fronts[model].pass_by(found.now)
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
        self.intake.hungry = set(found.due)
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
