"""Which jobs this worker claims next, and how many. Pure policy, without the database."""

import math
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence

from jobs.models import Job

AHEAD = 0.1  # seconds of work with quick jobs, claimed beyond the slots
QUICK = 0.5  # seconds; slower jobs keep their slot
BRIEF = 0.01  # seconds; such jobs share threads
ASIDE = 5.0  # seconds for which a model with a locked table is skipped

Model = type[Job]


class Intake:
    """Which models have jobs for this worker, how long they take, and which must run alone."""

    def __init__(self, models: Sequence[Model], slots: int, batch: int) -> None:
        self.models = deque(models)
        self.slots = slots
        self.batch = batch
        self.hungry = set(models)  # may have due jobs
        self.suspects: list[Model] = []  # have a job that must run alone, on this worker
        self.out_of_tokens: list[Model] = []  # have due jobs that wait for a token
        self.takers = 1  # threads that perform brief jobs
        self.pace: dict[Model, float] = {}  # seconds per job, lately
        self.aside: dict[Model, float] = {}  # skipped until this moment (monotonic)

    @property
    def is_fed(self) -> bool:
        return not (self.hungry or self.suspects or self.out_of_tokens or self.aside)

    def note_pace(self, model: Model, seconds: float) -> None:
        known = self.pace.get(model, seconds)
        self.pace[model] = 0.9 * known + 0.1 * seconds

    # One table under a lock must not stop the others.

    def put_aside(self, model: Model) -> None:
        """Skip a model for a while: its table is locked."""
        self.aside[model] = time.monotonic() + ASIDE
        self.hungry.discard(model)

    def within_reach(self) -> list[Model]:
        """The models that are not skipped."""
        now = time.monotonic()
        self.aside = {model: until for model, until in self.aside.items() if until > now}
        return [model for model in self.models if model not in self.aside]

    # How much to claim

    def share_out(self, held: Counter[Model]) -> Iterator[tuple[Model, int]]:
        """Each model that may have due jobs, in turn, and how many of its jobs to claim.

        Each model gets its share of the room; the last one gets the rest.
        """
        self.models.rotate(1)
        hungry = [model for model in self.models if model in self.hungry]
        for position, model in enumerate(hungry):
            share = math.ceil(self.room(model, held) / (len(hungry) - position))
            if share > 0:
                yield model, min(share, self.batch)

    def has_room(self, held: Counter[Model]) -> bool:
        return any(self.room(model, held) > 0 for model in self.hungry)

    def room(self, model: Model, held: Counter[Model]) -> int:
        """How many jobs of this model to claim now.

        Slots held by slow jobs are taken. A model gets its fair share of the others. A model of
        quick jobs also gets what those slots will finish in the next moment, so that no slot
        waits for a claim. Quick jobs are not claimed a few at a time: that costs a query each.
        """
        slots = self.slots - sum(number for each, number in held.items() if self.is_slow(each))
        free = self.slots - held.total()
        share = min(math.ceil(self.slots / max(len(self.hungry), 1)) - held[model], slots)
        if self.is_slow(model):
            return max(free, share)
        threads = min(slots, self.takers) if self.is_brief(model) else slots
        ahead = min(self.batch, int(threads * AHEAD / max(self.pace[model], 1e-6)))
        return max(share, free + ahead if free + ahead >= ahead / 2 else 0)

    def is_brief(self, model: Model) -> bool:
        """Whether its jobs are so quick that a few threads can perform them all."""
        return self.pace.get(model, math.inf) < BRIEF and not self.is_slow(model)

    def is_slow(self, model: Model) -> bool:
        """Whether its jobs may keep a slot for long: paid jobs, and jobs not known to be quick."""
        is_quick = self.pace.get(model, math.inf) < QUICK
        return not is_quick or bool(model.provider_names())
