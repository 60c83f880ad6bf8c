import math
import time

import pytest

from jobs import events
from jobs.events.models import EventJob
from jobs.models import Event
from jobs.run import Pulse, Run
from tests.jobs.conftest import SimulatedWorker as BaseWorker
from tests.jobs.conftest import make_due


class SimulatedWorker(BaseWorker):
    """Claims the jobs of events, and settles them."""

    def claim(self, model=EventJob, slots=1, **options):
        return super().claim(model, slots, **options)

    def claim_one(self, model=EventJob):
        return super().claim_one(model)

    def drain(self):
        """Handle all due events, one after the other."""
        while jobs := self.claim():
            for job in jobs:
                self.perform(job)

    def perform(self, job):
        run = Run(job, Pulse(math.inf), time.monotonic())
        run.start()
        try:
            result = job.perform(run)
        except Exception as error:
            return self.fail(job, error)
        return self.succeed(job, result=result)


@pytest.fixture
def worker():
    return SimulatedWorker("fast")


@pytest.fixture
def other_worker():
    return SimulatedWorker("slow")


def ring(name="", **payload):
    """Record an event whose handler does what the payload says."""
    return events.record("test", "bell.rung", {"name": name, **payload}).event


def meet():
    """Record an event with two handlers."""
    return events.record("test", "pair.met").event


def job_of(event, handler="ring"):
    return EventJob.objects.get(event=event, handler=handler)


def is_processed(event):
    return Event.objects.get(pk=event.pk).processed_at is not None


def make_all_due():
    for job in EventJob.objects.filter(status="queued"):
        make_due(job)
