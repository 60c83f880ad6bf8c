"""A person pauses and resumes a provider: what happens to the waiting jobs."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now

from jobs import queue
from jobs.errors import ProviderUnavailable, Snooze
from jobs.models import Status
from jobs.paid import pausing
from tests.jobs import orders
from tests.jobs.conftest import LEASE
from tests.jobs.orders import SHOP, claimed_run, order, shop
from tests.testapp.models import Order

pytestmark = pytest.mark.django_db(transaction=True)
opened = orders.opened

UNAVAILABLE = ProviderUnavailable(retry_after=3600, reason="quota of the day")


def claim():
    return queue.claim(Order, 5, "fast", LEASE)


def let_pass(time):
    """Move all waits back by `time`, as if it had passed."""
    earlier = {
        "run_after": F("run_after") - time,
        "unavailable_since": F("unavailable_since") - time,
    }
    Order.objects.update(**earlier)
    type(shop()).objects.update(paused_until=F("paused_until") - time)


def test_jobs_that_were_told_to_come_back_later_start_when_a_person_resumes(worker):
    worker.fail(claimed_run().job, UNAVAILABLE)
    assert claim() == []

    pausing.resume(SHOP)

    assert len(claim()) == 1


def test_jobs_that_wait_for_another_reason_go_on_waiting(worker):
    worker.fail(claimed_run("snoozed").job, Snooze(3600))
    order("later", run_after=Now() + timedelta(hours=1))

    pausing.resume(SHOP)

    assert claim() == []


@pytest.mark.parametrize("end", ["resumed", "by itself"])
def test_an_operators_pause_uses_no_patience(worker, end):
    worker.fail(claimed_run().job, UNAVAILABLE)
    pause = Order.patience * 2
    pausing.pause(SHOP, "no money", until=None if end == "resumed" else shop().now + pause)
    let_pass(pause)
    if end == "resumed":
        pausing.resume(SHOP)
    [job] = claim()

    worker.fail(job, UNAVAILABLE)

    assert Order.objects.get().status == Status.QUEUED


def test_patience_goes_on_after_the_pause(worker):
    worker.fail(claimed_run().job, UNAVAILABLE)
    pausing.pause(SHOP, "no money", until=shop().now + timedelta(hours=2))
    let_pass(timedelta(hours=3) + Order.patience)
    [job] = claim()

    worker.fail(job, UNAVAILABLE)

    assert Order.objects.get().status == Status.FAILED
