import itertools

import pytest
from django.db.models.functions import Now

from jobs import queue
from jobs.models import Outcome, Provider, Strategy
from jobs.paid.batches.models import Batch
from jobs.paid.clients import services
from jobs.queue import outcomes
from jobs.queue.outcomes import End
from tests.jobs.batches.bureau import Bureau
from tests.jobs.conftest import LEASE
from tests.jobs.orders import SHOP, open_shop, order, run_of
from tests.testapp.models import Order

workers = (f"worker-{number}" for number in itertools.count())


@pytest.fixture(autouse=True)
def bureau(monkeypatch, db, settings, tmp_path):
    """A shop whose calls are made in batches."""
    bureau = Bureau()
    monkeypatch.setattr(services, "has_batches", lambda name: name == SHOP)
    monkeypatch.setattr(services, "batch_client", lambda name: bureau)
    open_shop(strategy=Strategy.BATCH)
    return bureau


def perform(model, **columns):
    """Claim one job of this model and perform it, as a worker would; returns its end."""
    model.objects.filter(status="queued").update(run_after=Now(), **columns)
    worker = next(workers)
    [job] = queue.claim(model, 1, worker, LEASE)
    return settle(job)


def settle(job):
    try:
        end = End(job, Outcome.SUCCEEDED, result=job.perform(run_of(job)))
    except Exception as error:
        end = outcomes.from_error(job, error)
    assert queue.settle([end]) == []
    return end


def orders(*names, **columns):
    """Order these, and let each leave its call for the batch."""
    for name in names:
        order(name, **columns)
    for _ in names:
        perform_due(Order)
    return Order.objects.order_by("id")


def perform_due(model):
    [job] = queue.claim(model, 1, next(workers), LEASE)
    return settle(job)


def perform_all(model):
    """Perform all jobs of this model that are due; returns their ends."""
    return [settle(job) for job in queue.claim(model, 50, next(workers), LEASE)]


def step():
    """The next step of the only open batch."""
    return perform(Batch)


def provider():
    return Provider.objects.with_now().get(name=SHOP)


def reopen():
    Provider.objects.update(paused=False, paused_until=None, faults=0)
