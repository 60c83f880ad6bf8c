"""Suspects, which run alone: what two workers did not survive takes no neighbours along."""

from django.db import IntegrityError

from jobs.db import sessions
from jobs.models import Job, Worker

Model = type[Job]


class Reservation:
    """Which kind of suspect this worker empties itself for; one worker of the fleet does."""

    def __init__(self, worker: str) -> None:
        self.worker = worker
        self.model: Model | None = None

    def choose(self, suspects: list[Model], is_idle: bool) -> list[Model]:
        """The suspects that this worker should run: any while it is idle, else one it reserved."""
        if self.model not in suspects:
            self.give_up()
        if is_idle:
            return suspects
        if self.model is None:
            self.model = next((model for model in suspects if self.reserve(model)), None)
        return [self.model] if self.model else []

    def reserve(self, model: Model) -> bool:
        try:
            with sessions.short_transaction():
                return Worker.objects.reserve(self.worker, model._meta.label)
        except IntegrityError:  # another worker was quicker
            return False

    def give_up(self) -> None:
        if self.model is not None:
            Worker.objects.filter(name=self.worker).update(emptying_for="")
            self.model = None
