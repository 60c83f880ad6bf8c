"""The rows of providers: made with modest limits, and without a price they sell nothing."""

from decimal import Decimal

import pytest
from django.db import connection

from guides.models import SpotImageJob
from jobs.errors import NoRoom
from jobs.models import Provider
from jobs.paid import limits
from tests.jobs.orders import (
    SHOP,
    Sender,
    buy,
    claim_orders,
    claimed_run,
    open_shop,
    order,
    set_shop,
    shop,
)
from tests.testapp.models import Chore, Order

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_provider_appears_when_it_is_first_used_with_modest_limits():
    order()
    claim_orders()

    provider = Provider.objects.get(name=SHOP)
    assert (provider.requests_per_minute, provider.burst, provider.timeout) == (15, 5, 25)
    assert (provider.max_running, provider.daily_budget, provider.price) == (None, 5, 0)


def test_a_new_provider_sells_nothing_until_a_person_has_set_its_price():
    order()
    assert claim_orders() == []

    set_shop(price=Decimal("0.04"))

    assert buy(claimed_run()).raw == b"picture"
    assert shop().left_today == Decimal("4.96")


def test_the_budget_of_a_new_provider_is_a_setting(settings):
    settings.DEFAULT_DAILY_BUDGET = None

    assert shop().daily_budget is None
    assert not shop().lacks_price


def test_a_budget_without_a_price_stops_a_call_that_was_claimed_before():
    open_shop(price=0)
    run, send = claimed_run(), Sender()
    set_shop(daily_budget=Decimal(1))

    with pytest.raises(NoRoom, match="its price is not set"):
        buy(run, send)

    assert send.sent == 0


def test_the_painter_is_not_limited():
    painter = limits.find("painter")

    assert (painter.requests_per_minute, painter.daily_budget) == (None, None)
    assert limits.is_free("painter")
    assert not limits.is_free(SHOP)


def test_a_worker_makes_the_rows_of_its_jobs_and_names_those_without_a_price(caplog):
    limits.make_rows([Order, SpotImageJob, Chore])

    assert set(Provider.objects.values_list("name", flat=True)) == {SHOP, "painter"}
    assert [record.getMessage() for record in caplog.records] == [
        f"{SHOP} starts no call until a person sets its price, in the admin."
    ]


def test_a_row_of_plain_sql_with_a_name_is_a_good_provider():
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO providers (name) VALUES (%s)", [SHOP])

    assert shop().tokens() == 5
