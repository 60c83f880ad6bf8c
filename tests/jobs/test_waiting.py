"""What a job waits for, in one word and in one sentence."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.db.models.functions import Now

from jobs import queue
from jobs.errors import ProviderUnavailable
from jobs.paid import limits
from jobs.paid.waiting import Reason, Wait, waits_for
from tests.jobs.conftest import LEASE, new_chore
from tests.jobs.orders import SHOP, buy, claimed_run, open_shop, order, shop
from tests.testapp.models import Order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("pictures")]


def reason(job):
    wait = waits_for(job, limits.find(SHOP))
    return wait and wait.reason


def test_its_turn():
    open_shop()

    assert reason(order()) == Reason.TURN


def test_a_job_without_a_provider_waits_for_its_turn(chore):
    assert waits_for(chore, None) == Wait(Reason.TURN)


def test_its_next_try():
    open_shop()
    later = order(run_after=Now() + timedelta(hours=1))

    assert waits_for(later, shop()) == Wait(Reason.RETRY, later.run_after)


def test_a_paused_provider_and_until_when():
    until = datetime.fromisoformat("2099-01-01T00:00:00+00:00")
    open_shop()
    job = order()

    limits.pause(SHOP, "why not", until=until)
    assert waits_for(job, shop()) == Wait(Reason.PAUSED, until, "why not")

    limits.pause(SHOP, "the bill is due")
    assert waits_for(job, shop()) == Wait(Reason.PAUSED, None, "the bill is due")


def test_the_pause_that_made_it_wait_rather_than_its_next_try():
    open_shop()
    later = order(run_after=Now() + timedelta(minutes=1))
    limits.note_fault(SHOP, ProviderUnavailable(retry_after=50, reason="429"))

    assert reason(later) == Reason.PAUSED


def test_the_next_days_budget(settings):
    settings.TIME_ZONE = "Asia/Tokyo"
    open_shop(daily_budget=Decimal(0))

    wait = waits_for(order(), shop())

    assert wait.reason == Reason.BUDGET
    assert wait.until.isoformat().endswith("T00:00:00+09:00")


def test_tokens():
    open_shop(requests_per_minute=1, burst=1)
    buy(claimed_run("first"))

    wait = waits_for(order("second"), shop())

    assert wait.reason == Reason.RATE
    assert timedelta(0) < wait.until - shop().now <= timedelta(minutes=1)


def test_those_that_run():
    open_shop(max_running=1)
    order("first")
    queue.claim(Order, 1, "fast", LEASE)

    assert reason(order("second")) == Reason.BUSY


def test_nothing_once_it_runs_or_has_ended():
    open_shop()
    order()
    [running] = queue.claim(Order, 1, "fast", LEASE)

    assert reason(running) is None


def test_people_read_a_sentence_with_the_time_of_day(settings):
    settings.TIME_ZONE = "Asia/Tokyo"
    until = datetime.fromisoformat("2026-11-16T05:30:00+00:00")

    assert Wait(Reason.PAUSED, until).text == "the provider is paused (until 2:30 p.m.)"
    assert Wait(Reason.TURN).text == "waits for its turn"


def test_a_chore_later_today_needs_no_provider_to_say_so():
    later = new_chore("sweep", run_after=Now() + timedelta(hours=1))

    assert waits_for(later, None).reason == Reason.RETRY
