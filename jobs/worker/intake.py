"""What this worker claims next, and how much of it. Plain policy: it asks no database."""

import math
import random
from collections import Counter, deque
from collections.abc import Iterator, Sequence

from jobs.models import Job

AHEAD = 0.1  # seconds of quick jobs that are held beyond the slots

Model = type[Job]


class Intake:
    """Which models have jobs for us, how fast these are, and whether one must run alone."""

    def __init__(self, models: Sequence[Model], slots: int, batch: int) -> None:
        self.models = deque(models)
        self.slots = slots
        self.batch = batch
        self.hungry = set(models)  # may have due jobs
        self.suspects: list[Model] = []  # have a job that must run alone
        self.out_of_tokens: list[Model] = []  # have due jobs, which may start in a while
        self.pace: dict[Model, float] = {}  # seconds that a job took lately

    @property
    def is_fed(self) -> bool:
        return not (self.hungry or self.suspects or self.out_of_tokens)

    def note_pace(self, model: Model, seconds: float) -> None:
        known = self.pace.get(model, seconds)
        self.pace[model] = 0.9 * known + 0.1 * seconds

    def note_suspects(self, found: list[Model], is_idle: bool) -> None:
        """One worker is enough to empty itself for a suspect: chance decides which."""
        if self.suspects or is_idle or random.random() < 0.2:
            self.suspects = found

    def share_out(self, held: Counter[Model]) -> Iterator[tuple[Model, int]]:
        """Each model that may have due jobs, in turn, with how many to claim of it.

        Each gets its share of the room, the last what the others left.
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

        Free slots, or a fair share of them while other models' quick jobs wait in line. And of
        quick jobs without a provider, what the slots will get through in the next moment, so
        that no slot waits for a claim; but never a few at a time of those.
        """
        free = self.slots - held.total()
        share = math.ceil(self.slots / max(len(self.hungry), 1)) - held[model]
        seconds = self.pace.get(model)
        if seconds is None or model.provider_name() is not None:
            return max(free, share)
        ahead = min(self.batch, int(self.slots * AHEAD / max(seconds, 1e-6)))
        return max(share, free + ahead if free + ahead >= ahead / 2 else 0)
