"""Suspects run alone: a job that lost two workers must not take other jobs with it."""

from django.db import Error, IntegrityError

from jobs.db import faults, sessions
from jobs.models import Job, Worker

Model = type[Job]


class Reservation:
    """The kind of suspect for which this worker empties itself. One worker of the fleet does so."""

    def __init__(self, worker: str) -> None:
        self.worker = worker
        self.model: Model | None = None

    def choose(self, suspects: list[Model], is_idle: bool) -> list[Model]:
        """The suspects for this worker: any if it is idle, else the kind that it reserved."""
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
        except Error as error:
            if not faults.is_conflict(error):
                raise
            return False

    def give_up(self) -> None:
        if self.model is not None:
            with sessions.short_transaction():
                Worker.objects.filter(name=self.worker).update(emptying_for="")
            self.model = None
