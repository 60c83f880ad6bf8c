"""What a paid call costs that brought no answer, or another cost than was booked."""

import time
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import OperationalError

from jobs import storage
from jobs.errors import (
    BadRequest,
    GarbageAnswer,
    OperatorsFault,
    ProviderUnavailable,
    RequestRefused,
)
from jobs.models import Call, Provider
from jobs.paid import answers, ledger, limits
from jobs.paid.clients import Answer
from tests.jobs import orders
from tests.jobs.orders import (
    Sender,
    again,
    buy,
    claimed_run,
    crash_in_flight,
    shop,
    states,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("pictures")]
opened = orders.opened


@pytest.mark.parametrize(
    "error",
    [ProviderUnavailable(), OperatorsFault(), RequestRefused("no"), BadRequest("what?")],
    ids=lambda error: type(error).__name__,
)
def test_what_was_certainly_not_billed_is_given_back(error):
    with pytest.raises(type(error)):
        buy(claimed_run(), Sender(error))

    assert states() == ["failed"]
    assert (shop().spent_today, Call.objects.get().cost) == (0, 0)


def test_garbage_may_have_been_billed():
    with pytest.raises(GarbageAnswer):
        buy(claimed_run(), Sender(GarbageAnswer("<html>")))

    assert (states(), shop().spent_today) == (["failed"], Decimal("0.04"))


def test_the_cost_that_the_answer_tells_corrects_what_was_booked():
    buy(claimed_run(), Sender(Answer(raw=b"picture", cost=Decimal("0.0391"))))

    assert shop().spent_today == Call.objects.get().cost == Decimal("0.0391")


def test_money_of_another_day_is_not_given_back_today():
    def overnight(timeout):
        tomorrow = shop().today + timedelta(days=1)
        Provider.objects.update(spent_on=tomorrow, spent=Decimal("0.20"))
        raise ProviderUnavailable

    with pytest.raises(ProviderUnavailable):
        buy(claimed_run(), overnight)

    assert Provider.objects.get().spent == Decimal("0.20")


def test_a_late_refusal_gives_back_what_an_unknown_call_had_booked():
    run = claimed_run()

    def late(timeout):
        again(run)
        answers.recover(Call.objects.get().key)
        assert states() == ["unknown"]
        raise ProviderUnavailable(reason="503")

    with pytest.raises(ProviderUnavailable):
        buy(run, late)

    assert (states(), shop().spent_today) == (["failed"], 0)


def test_money_is_corrected_once_however_often_the_write_is_repeated(monkeypatch):
    cost = Decimal("0.5")
    faults = [OperationalError("the commit's reply was lost")]
    book = limits.book

    def fail_once(*arguments):
        book(*arguments)
        if faults:
            raise faults.pop()

    monkeypatch.setattr(limits, "book", fail_once)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    buy(claimed_run(), Sender(Answer(raw=b"picture", cost=cost)))

    assert shop().spent_today == Call.objects.get().cost == cost


def test_a_refusal_is_recorded_though_the_database_was_away_for_a_moment(monkeypatch):
    faults = [OperationalError("the server closed the connection")] * 2
    end = ledger.end

    def fail_twice(*arguments, **options):
        if faults:
            raise faults.pop()
        end(*arguments, **options)

    monkeypatch.setattr(ledger, "end", fail_twice)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with pytest.raises(ProviderUnavailable):
        buy(claimed_run(), Sender(ProviderUnavailable(retry_after=60)))

    assert (states(), shop().is_paused) == (["failed"], True)


def test_an_old_answer_that_is_found_does_not_close_the_breaker():
    run = claimed_run()
    crash_in_flight(run)
    storage.named("answers").put(Call.objects.get().answer_name, b"picture")
    Provider.objects.update(faults=5)

    buy(again(run))

    assert shop().faults == 5
