"""Providers' limits: a claim reads them, the intent of a call takes from them."""

import threading
from collections import Counter
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from jobs import queue
from jobs.errors import NoRoom
from jobs.models import Call, Outcome, Provider
from jobs.paid import limits, pausing
from jobs.paid.clients import Answer
from jobs.queue.outcomes import End
from tests.jobs.conftest import LEASE
from tests.jobs.orders import (
    SHOP,
    Sender,
    buy,
    claim_orders,
    claimed_run,
    open_shop,
    order,
    run_of,
    set_shop,
    shop,
)
from tests.testapp.models import Chore, Order

pytestmark = pytest.mark.django_db(transaction=True)


def order_many(count):
    return queue.enqueue(Order(name=f"order {number}") for number in range(count))


def at_once(works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# The claim looks


@pytest.mark.parametrize(
    "closed",
    [
        {"paused": True},
        {"paused_until": Now() + timedelta(minutes=1)},
        {"daily_budget": Decimal("0.03")},
        {"daily_budget": Decimal(0), "price": Decimal(0)},
    ],
    ids=["paused", "paused for a minute", "budget smaller than the price", "budget of nothing"],
)
def test_nothing_is_claimed_while_the_provider_is_closed(closed):
    open_shop(**closed)
    order()

    assert claim_orders() == []


def test_a_pause_that_is_over_holds_nobody_up():
    open_shop(paused_until=Now() - timedelta(seconds=1))
    order()

    assert len(claim_orders()) == 1


def test_no_more_is_claimed_than_there_are_tokens():
    open_shop(requests_per_minute=6, burst=3)
    order_many(10)

    assert len(claim_orders()) == 3
    assert claim_orders(worker="other") == []  # the three claimed jobs will take all tokens


def test_no_more_is_claimed_than_the_budget_covers():
    open_shop(daily_budget=Decimal("0.09"))
    order_many(10)

    assert len(claim_orders()) == 2
    assert claim_orders(worker="other") == []


def test_never_more_than_max_running_are_processing():
    open_shop(max_running=3)
    order_many(10)
    most = Counter()

    def work():
        for _ in range(10):
            for job in claim_orders(slots=2, worker=threading.current_thread().name):
                most[Order.objects.filter(status="processing").count()] += 1
                queue.settle([End(job, Outcome.SUCCEEDED)])
        connection.close()

    at_once([work] * 4)

    assert max(most) <= 3


def test_a_limited_provider_does_not_hold_up_jobs_without_one(chore):
    open_shop(paused=True)
    order()

    assert len(queue.claim(Chore, 5, "fast", LEASE)) == 1


def test_an_edited_limit_holds_at_once():
    open_shop(requests_per_minute=1, burst=1)
    buy(claimed_run("one"))
    order("two")
    assert claim_orders() == []

    set_shop(requests_per_minute=6000, burst=10)

    assert len(claim_orders()) == 1


# The intent takes


@pytest.fixture(autouse=True)
def answers(pictures):
    """A folder for this test's answers."""


def test_a_call_takes_a_token_and_books_its_price():
    open_shop(requests_per_minute=6, burst=3)

    buy(claimed_run())

    assert shop().tokens() == 2
    assert shop().spent_today == Decimal("0.04")


def test_without_a_token_nothing_is_sent_and_the_job_may_go_back():
    open_shop(requests_per_minute=1, burst=1)
    run = claimed_run("one")
    set_shop(burst=2)
    late = claimed_run("two", worker="other")
    set_shop(burst=1)
    buy(run)
    send = Sender()

    with pytest.raises(NoRoom, match="1 a minute"):
        buy(late, send)

    assert send.sent == 0
    assert Call.objects.count() == 1


def test_a_call_waits_for_a_token_that_is_a_moment_away():
    open_shop(requests_per_minute=60, burst=1)
    buy(claimed_run("one"))

    buy(claimed_run("two"))

    first, second = Call.objects.order_by("id").values_list("started_at", flat=True)
    assert second - first >= timedelta(seconds=0.99)


def test_a_pause_set_after_the_claim_stops_the_call():
    open_shop()
    run = claimed_run()
    pausing.pause(SHOP, "the bill is due")

    with pytest.raises(NoRoom, match="the bill is due"):
        buy(run)


def test_a_resumed_provider_sells_again():
    open_shop()
    pausing.pause(SHOP, "the bill is due")
    pausing.resume(SHOP)

    assert buy(claimed_run()).raw == b"picture"


def test_yesterdays_money_is_not_todays():
    open_shop(daily_budget=Decimal("0.04"), spent=Decimal("0.04"), spent_on="2001-01-01")

    buy(claimed_run())

    assert shop().spent_today == Decimal("0.04")


def test_a_day_is_a_day_of_the_sites_time_zone(settings):
    provider = Provider(name=SHOP, spent=Decimal(1), spent_on=date(2026, 11, 16))
    provider.now = datetime.fromisoformat("2026-11-16T15:30:00+00:00")

    settings.TIME_ZONE = "Asia/Tokyo"
    assert provider.spent_today == 0
    settings.TIME_ZONE = "UTC"
    assert provider.spent_today == 1


def test_an_earlier_day_gives_no_new_budget():
    """The day goes back on a host in another time zone, or when a clock is corrected."""
    open_shop(daily_budget=Decimal("0.08"), spent=Decimal("0.04"), spent_on=tomorrow())
    buy(claimed_run("one"))
    run = claimed_without_looking("two")

    with pytest.raises(NoRoom, match="has spent"):
        buy(run)

    assert Provider.objects.get().spent_on == tomorrow()


def test_what_was_booked_on_another_hosts_day_is_corrected_on_that_day():
    open_shop(spent=Decimal("0.40"), spent_on=tomorrow())

    buy(claimed_run(), Sender(Answer(raw=b"picture", cost=Decimal("0.01"))))

    assert Provider.objects.get().spent == Decimal("0.41")


def tomorrow():
    return timezone.localdate() + timedelta(days=1)


def claimed_without_looking(name):
    order(name)
    [job] = claim_without_looking(1)
    set_shop(daily_budget=Decimal("0.08"))
    return run_of(job)


@pytest.mark.postgres
def test_a_budget_for_ten_is_spent_on_exactly_ten_by_eight_at_once():
    open_shop(daily_budget=Decimal("0.40"))
    order_many(30)
    runs = [run_of(job) for job in claim_without_looking(30)]
    sold = []

    def work(share):
        for run in share:
            with suppress(NoRoom):
                buy(run)
                sold.append(run)
        connection.close()

    at_once([partial(work, runs[start::8]) for start in range(8)])

    assert len(sold) == 10
    assert shop().spent_today == Decimal("0.40")


def claim_without_looking(count):
    set_shop(daily_budget=None)
    jobs = claim_orders(count)
    set_shop(daily_budget=Decimal("0.40"))
    return jobs


@given(
    rate=st.integers(1, 600),
    burst=st.integers(1, 20),
    steps=st.lists(st.floats(0, 30, allow_nan=False), max_size=150),
)
def test_no_minute_ever_has_more_calls_than_rate_and_burst(rate, burst, steps):
    start = now = datetime.fromisoformat("2026-11-16T00:00:00+00:00")
    provider = Provider(name="any", requests_per_minute=rate, burst=burst, full_at=start)
    provider.save = lambda **_: None
    calls = []
    for step in steps:
        now += timedelta(seconds=step / 10)
        provider.now = now
        while True:
            try:
                limits.take(provider, provider.price)
            except NoRoom:
                break
            calls.append(now)

    for first in calls:
        minute = [call for call in calls if first <= call <= first + timedelta(minutes=1)]
        assert len(minute) <= rate + burst
