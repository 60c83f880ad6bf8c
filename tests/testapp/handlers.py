"""Handlers for the tests, as any application could register them."""

from jobs import events
from jobs.errors import PermanentError
from tests.testapp.models import Effect, wait_at_gate


def leave_effect(event, result):
    """One Effect per event that was handled, in the transaction that ends its job."""
    Effect.objects.create(job_id=event.pk, result=str(result))
    if event.payload.get("then") == "raise":
        raise RuntimeError("then was told to raise")


@events.handles("bell.rung", name="ring", then=leave_effect)
def ring(event, run):
    """Does what the payload says: waits at the gate, fails, or returns its name."""
    wait_at_gate(event.payload.get("seconds", 0))
    match event.payload.get("do"):
        case "fail":
            raise ValueError("could not ring")
        case "fail for good":
            raise PermanentError("will never ring")
    return event.payload.get("name", "")


@events.handles("pair.met", name="one")
def greet_one(event, run):
    return "one"


@events.handles("pair.met", name="other")
def greet_other(event, run):
    return "other"


events.declare("leaf.fell")  # nothing handles it yet


def check_weight(payload):
    if not isinstance(payload.get("grams"), int):
        yield ".grams", "must be a whole number"


events.declare("parcel.weighed", check=check_weight)
