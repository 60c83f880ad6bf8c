"""Orders: jobs that buy from a provider, and runs of them without a worker."""

import time
from decimal import Decimal

import pytest
from django.db.models.functions import Now

from jobs import queue
from jobs.models import Call, Provider, State
from jobs.paid import calls, limits
from jobs.paid.clients import Answer
from jobs.run import Pulse, Run
from tests.jobs.conftest import LEASE, SimulatedWorker, expire_lease
from tests.testapp.models import Order

SHOP = Order.provider
PAYLOAD = "ab" * 32


def open_shop(**columns):
    """The provider's row: unlimited, for 0.04 a call, unless told otherwise."""
    defaults = {"requests_per_minute": None, "price": Decimal("0.04")}
    return Provider.objects.create(name=SHOP, **{**defaults, **columns})


@pytest.fixture(autouse=True)
def opened():
    """The shop is open in every test of a module that takes this fixture."""
    open_shop()


def shop():
    return limits.find(SHOP)


def order(name="lamp", **columns):
    [id] = queue.enqueue([Order(name=name, **columns)])
    return Order.objects.get(id=id)


def claimed_run(name="lamp", worker="fast"):
    """Order something, claim it, and return the run of that claim."""
    if not Order.objects.filter(name=name).exists():
        order(name)
    [job] = SimulatedWorker(worker).claim(Order)
    return run_of(job)


def run_of(job):
    run = Run(job, Pulse(60), time.monotonic())
    run.start()
    return run


class Sender:
    """A fake provider: counts what is sent, and answers or raises as told."""

    def __init__(self, *replies):
        self.replies = list(replies) or [Answer(raw=b"picture", remote_id="r-1")]
        self.sent = 0

    def __call__(self, timeout):
        reply = self.replies[min(self.sent, len(self.replies) - 1)]
        self.sent += 1
        if isinstance(reply, BaseException):
            raise reply
        return reply


def buy(run, send=None, payload=PAYLOAD):
    return calls.buy(run, payload, send or Sender())


def states():
    return list(Call.objects.order_by("id").values_list("state", flat=True))


def again(run, worker="other"):
    """Rescue the run's job, as if its worker had died, and let another worker claim it."""
    expire_lease(run.job)
    queue.rescue(Order)
    Order.objects.update(run_after=Now(), interruptions=0)
    return claimed_run(run.job.name, worker)


def crash_in_flight(run):
    """Let the worker die after it sent the request: only the intent is on record."""
    with pytest.raises(SystemExit):
        buy(run, Sender(SystemExit()))
    Call.objects.filter(epoch=run.epoch).update(state=State.INTENT, finished_at=None, error="")


def claim_orders(slots=50, worker="fast"):
    return queue.claim(Order, slots, worker, LEASE)


def set_shop(**columns):
    Provider.objects.filter(name=SHOP).update(**columns)
