"""Between "allowed" and "sent": a request is sent in time, or never and at no cost."""

import time
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import OperationalError, connection

from jobs.errors import LeaseLost
from jobs.models import Call, Outcome
from jobs.models.call import CallQuerySet
from jobs.paid import answers, ledger
from jobs.paid.clients import Answer
from jobs.queue import outcomes
from tests.jobs.conftest import in_another_thread
from tests.jobs.orders import Sender, buy, claimed_run, open_shop, shop, states

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("pictures")]


def after_the_intent(monkeypatch, do):
    """Call `do` between the intent's commit and the request."""
    begin = ledger.begin

    def slow(*arguments):
        begun = begin(*arguments)
        do()
        return begun

    monkeypatch.setattr(ledger, "begin", slow)


def test_a_run_that_lost_its_claim_after_the_intent_sends_nothing(monkeypatch):
    open_shop(requests_per_minute=6, burst=3, daily_budget=Decimal(1))
    run, send = claimed_run(), Sender()
    after_the_intent(monkeypatch, lambda: run.lose("The claim is gone."))

    with pytest.raises(LeaseLost, match=r"Nothing was sent: The claim is gone"):
        buy(run, send)

    assert (send.sent, states()) == (0, ["failed"])
    assert (shop().spent_today, Call.objects.get().cost, shop().tokens()) == (0, 0, 3)
    assert not run.is_paying


def test_a_request_that_would_leave_too_late_is_not_sent(monkeypatch):
    open_shop()
    run, send = claimed_run(), Sender()
    clock = time.monotonic
    later = ledger.SEND_WITHIN.total_seconds() + 1

    def let_time_pass():
        monkeypatch.setattr(time, "monotonic", lambda: clock() + later)

    after_the_intent(monkeypatch, let_time_pass)

    with pytest.raises(LeaseLost, match="too much time") as late:
        buy(run, send)

    assert (send.sent, states()) == (0, ["failed"])
    assert shop().spent_today == 0
    assert outcomes.from_error(run.job, late.value).outcome == Outcome.RELEASED


def test_a_token_that_others_have_taken_after_is_not_given_back_twice():
    open_shop(requests_per_minute=6, burst=3)
    first = ledger.begin(claimed_run("one"), "shop:model", "k1", "p")
    ledger.begin(claimed_run("two"), "shop:model", "k2", "p")

    first.withdraw("late")
    first.withdraw("late")

    assert shop().tokens() == 1


def test_an_intent_whose_commit_was_not_confirmed_is_withdrawn(monkeypatch):
    """The reply to COMMIT was lost: the row exists, and nothing was sent."""
    open_shop(requests_per_minute=6, burst=3)
    run, send = claimed_run(), Sender()
    faults = [OperationalError("the connection is lost")]
    commit = connection.commit

    def lose_the_reply():
        commit()
        if faults and states():
            raise faults.pop()

    monkeypatch.setattr(connection, "commit", lose_the_reply)
    with pytest.raises(OperationalError):
        buy(run, send)

    assert (send.sent, states()) == (0, ["failed"])
    assert (shop().spent_today, shop().tokens()) == (0, 3)
    assert "Nothing was sent" in Call.objects.get().error


# Another worker knows of the answer


def test_the_worker_that_asked_corrects_what_another_recorded_of_its_answer(monkeypatch):
    """It was frozen after it stored the answer, and another worker recorded that answer."""
    open_shop()
    mark = answers.mark_stored

    def slowly(call, answer):
        monkeypatch.setattr(answers, "mark_stored", mark)
        assert answers.recover(call.key)
        assert Call.objects.get().remote_id == ""
        mark(call, answer)

    monkeypatch.setattr(answers, "mark_stored", slowly)
    told = Answer(raw=b"picture", remote_id="r-1", cost=Decimal("0.05"))
    buy(claimed_run(), Sender(told))

    call = Call.objects.get()
    assert (call.state, call.remote_id, call.cost) == ("stored", "r-1", Decimal("0.05"))
    assert shop().spent_today == Decimal("0.05")


def test_a_finder_that_knows_less_takes_nothing_away(monkeypatch):
    open_shop()
    told = Answer(raw=b"picture", remote_id="r-1", cost=Decimal("0.05"))
    bought = buy(claimed_run(), Sender(told))

    answers.mark_stored(bought.call, Answer(raw=b"picture"))

    call = Call.objects.get()
    assert (call.remote_id, call.cost) == ("r-1", Decimal("0.05"))


def test_the_moment_ends_before_others_take_the_call_for_unknown():
    assert ledger.SEND_WITHIN + timedelta(seconds=1) < ledger.OVERDUE


@pytest.mark.parametrize("cost", ["NaN", "Infinity", "-1", "1e20"])
def test_a_cost_that_no_book_can_hold_leaves_the_price_standing(cost):
    open_shop()

    buy(claimed_run(), Sender(Answer(raw=b"picture", cost=Decimal(cost))))

    assert (states(), shop().spent_today) == (["stored"], Decimal("0.04"))


@pytest.mark.postgres
def test_a_finder_that_read_the_old_cost_does_not_write_it_back(monkeypatch):
    """Both write at the same moment: the finder, and the worker that knows the true cost."""
    open_shop()
    run, told = claimed_run(), Answer(raw=b"picture", cost=Decimal("0.05"))
    intent = ledger.begin(run, "shop:model", "k1", "p")
    filter_by = CallQuerySet.values_list

    def meanwhile(rows, *columns, **options):
        found = list(filter_by(rows, *columns, **options))
        monkeypatch.setattr(CallQuerySet, "values_list", filter_by)
        in_another_thread(lambda: answers.mark_stored(intent.call, told))
        return FirstOf(found)

    monkeypatch.setattr(CallQuerySet, "values_list", meanwhile)
    found_by_another = Call.objects.get()
    answers.mark_stored(found_by_another, Answer(raw=b"picture"))

    assert Call.objects.get().cost == shop().spent_today == Decimal("0.05")


class FirstOf(list[Decimal]):
    def first(self):
        return self[0]
