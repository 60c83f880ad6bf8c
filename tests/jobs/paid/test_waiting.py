"""What a job waits for, in one word and in one sentence."""

from datetime import datetime, timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from jobs import queue
from jobs.errors import ProviderUnavailable
from jobs.paid import breaker, limits, pausing
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

    pausing.pause(SHOP, "why not", until=until)
    assert waits_for(job, shop()) == Wait(Reason.PAUSED, until, "why not")

    pausing.pause(SHOP, "the bill is due")
    assert waits_for(job, shop()) == Wait(Reason.PAUSED, None, "the bill is due")


def test_the_pause_that_made_it_wait_rather_than_its_next_try():
    open_shop()
    later = order(run_after=Now() + timedelta(minutes=1))
    breaker.note_fault(SHOP, ProviderUnavailable(retry_after=50, reason="429"))

    assert reason(later) == Reason.PAUSED


def test_the_next_days_budget(settings):
    settings.TIME_ZONE = "Asia/Tokyo"
    open_shop(price=1, daily_budget=2, spent=2, spent_on=timezone.localdate())

    wait = waits_for(order(), shop())

    assert wait.reason == Reason.BUDGET
    assert wait.until.isoformat().endswith("T00:00:00+09:00")


@pytest.mark.parametrize(("price", "budget"), [(0, 0), (1, 0), (1, "0.5")])
def test_a_budget_that_covers_no_call_is_not_called_spent(price, budget):
    open_shop(price=price, daily_budget=budget)

    wait = waits_for(order(), shop())

    assert (wait.reason, wait.until) == (Reason.BUDGET, None)
    assert wait.text == "the budget per day covers no call"


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


def test_people_read_a_sentence_with_the_time_of_day(settings, monkeypatch):
    settings.TIME_ZONE = "Asia/Tokyo"
    until = datetime.fromisoformat("2026-11-16T05:30:09+00:00")
    monkeypatch.setattr(timezone, "now", lambda: until)

    assert Wait(Reason.PAUSED, until).text == "the provider is paused (until 14:30:09)"
    later = until + timedelta(days=400)
    assert Wait(Reason.PAUSED, later).text == "the provider is paused (until 2027-12-21 14:30)"
    assert Wait(Reason.TURN).text == "waits for its turn"


def test_a_chore_later_today_needs_no_provider_to_say_so():
    later = new_chore("sweep", run_after=Now() + timedelta(hours=1))

    assert waits_for(later, None).reason == Reason.RETRY
