"""Guides that another system withdraws."""

from guides.models import Guide
from jobs import events
from jobs.events.models import EventJob
from jobs.models import Event
from tests.jobs.events.conftest import SimulatedWorker


def tell_withdrawn(plan_id="kyoto", **more):
    """Record the event; no worker has handled it yet."""
    return events.record("travel", "guide.withdrawn", {"plan_id": plan_id, **more}).event


def withdraw(plan_id="kyoto"):
    event = tell_withdrawn(plan_id)
    handle_events()
    return event


def handle_events():
    SimulatedWorker("w").drain()
    assert set(EventJob.objects.values_list("status", flat=True)) <= {"succeeded"}
    assert not Event.objects.unprocessed().exists()


def is_withdrawn(plan_id="kyoto"):
    return Guide.objects.get(pk=plan_id).withdrawn_at is not None
