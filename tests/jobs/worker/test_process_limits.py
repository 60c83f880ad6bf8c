"""Limits hold for a fleet of real worker processes, as the shop's own ledger shows."""

import io
from collections import Counter
from contextlib import suppress
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from jobs import queue
from jobs.models import Attempt, Call, Provider, Status
from tests.jobs.orders import SHOP, open_shop, shop
from tests.jobs.processes import start, wait_until
from tests.testapp.models import Order

__all__ = ["start"]  # a fixture
pytestmark = [pytest.mark.postgres, pytest.mark.usefixtures("answers")]

FLEET = 4


@pytest.fixture
def answers(tmp_path, monkeypatch):
    monkeypatch.setenv("ANSWERS_FOLDER", str(tmp_path / "answers"))


@pytest.fixture
def books(tmp_path, monkeypatch):
    """The names of what the shop has sold."""
    ledger = tmp_path / "ledger"
    ledger.touch()
    monkeypatch.setenv("LEDGER", str(ledger))

    return lambda: ledger.read_text().splitlines()


def order_many(count, seconds=0.0):
    queue.enqueue(Order(name=f"order {number}", seconds=seconds) for number in range(count))


def start_fleet(start, **how):
    return [start("--jobs=testapp.Order", slots=4, **how) for _ in range(FLEET)]


def count(status):
    return Order.objects.filter(status=status).count()


@pytest.mark.long
def test_no_window_has_more_calls_than_the_limit_and_the_burst(start, books):
    rate, burst = 360, 4
    open_shop(requests_per_minute=rate, burst=burst)
    order_many(50)

    start_fleet(start)
    wait_until(lambda: count(Status.SUCCEEDED) == 50)

    # The moments of permission: how long a request then takes depends on the machine.
    moments = list(Call.objects.order_by("started_at").values_list("started_at", flat=True))
    for first, start_of_window in enumerate(moments):
        for last in range(first, len(moments)):
            seconds = (moments[last] - start_of_window).total_seconds()
            assert last - first + 1 <= burst + seconds * rate / 60 + 0.001
    assert len(moments) == 50
    assert set(Counter(books()).values()) == {1}


def test_a_budget_for_ten_buys_exactly_ten_and_fails_nobody(start, books):
    open_shop(price=Decimal("0.04"), daily_budget=Decimal("0.40"))
    order_many(100)

    fleet = start_fleet(start)
    wait_until(lambda: count(Status.SUCCEEDED) == 10 and all(each.is_listed for each in fleet))
    for worker in fleet:
        worker.terminate()
    assert [worker.exit_code() for worker in fleet] == [0] * FLEET
    assert start("--jobs=testapp.Order", "--drain").exit_code() == 0  # no job is due

    assert len(books()) == 10
    assert (count(Status.QUEUED), count(Status.FAILED)) == (90, 0)
    assert Order.objects.filter(attempts__gt=0).count() == 0
    assert shop().spent_today == Decimal("0.40")


@pytest.mark.long
def test_never_more_are_processing_than_max_running(start, books):
    open_shop(max_running=3)
    order_many(20, seconds=0.1)

    fleet = start_fleet(start, gate=True)
    wait_until(lambda: len(books()) == 3 and all(worker.is_listed for worker in fleet))
    assert count(Status.PROCESSING) == 3
    for worker in fleet:
        worker.open_gate()
    wait_until(lambda: count(Status.SUCCEEDED) == 20)

    assert claims_at_once() == 3


def claims_at_once():
    """The highest number of claims at the same moment, from the history."""
    edges = []
    for begin, end in Attempt.objects.values_list("started_at", "ended_at"):
        edges += [(begin, 1), (end, -1)]
    most = running = 0
    for _, change in sorted(edges, key=lambda edge: (edge[0], edge[1])):
        running += change
        most = max(most, running)
    return most


@pytest.mark.long
def test_a_drained_worker_waits_for_tokens_but_not_for_a_pause(start, books):
    open_shop(requests_per_minute=60, burst=1)
    order_many(3)

    assert start("--jobs=testapp.Order", "--drain").exit_code() == 0
    assert count(Status.SUCCEEDED) == 3

    type(shop()).objects.filter(name=SHOP).update(paused=True)
    queue.enqueue([Order(name="late")])
    assert start("--jobs=testapp.Order", "--drain").exit_code() == 0
    assert count(Status.QUEUED) == 1


@pytest.mark.long
def test_a_provider_without_a_price_gets_its_row_when_the_worker_starts(start, books):
    worker = start("--jobs=testapp.Order")
    wait_until(lambda: worker.is_listed)

    row = Provider.objects.get(name=SHOP)
    assert (row.daily_budget, row.price) == (5, 0)
    wait_until(lambda: f"{SHOP} starts no call until a person sets its price" in worker.log)

    order_many(1)
    wait_until(lambda: says_status("the provider's price is not set"))
    Provider.objects.update(price=Decimal("0.04"))
    wait_until(lambda: count(Status.SUCCEEDED) == 1)
    assert len(books()) == 1


def says_status(text):
    told = io.StringIO()
    with suppress(SystemExit, CommandError):
        call_command("jobs", "status", stdout=told)
    return text in told.getvalue()
