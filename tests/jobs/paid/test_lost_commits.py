"""A failover or a restore loses rows, but neither files nor money."""

from decimal import Decimal

import pytest

from jobs import storage
from jobs.errors import LeaseLost
from jobs.models import Call, Provider, State
from jobs.paid import answers, calls, ledger
from jobs.paid.clients import Answer
from tests.jobs import orders
from tests.jobs.orders import PAYLOAD, SHOP, Sender, buy, claimed_run, shop, states
from tests.testapp.models import Order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("pictures")]
opened = orders.opened


def lose_the_books():
    """Delete the call's row and its booking, as a failover may."""
    Call.objects.all().delete()
    Provider.objects.update(spent=0, spent_on=None)


def test_an_answer_whose_row_was_lost_is_found_and_not_bought_again():
    run = claimed_run()
    buy(run)
    lose_the_books()
    send = Sender()

    bought = buy(run, send)

    assert (bought.raw, send.sent, states()) == (b"picture", 0, ["stored"])
    assert bought.call.answer_name == Call.objects.get().answer_name == f"calls/{bought.call.key}/1"
    assert shop().spent_today == Decimal("0.04")
    assert buy(run, send).raw == b"picture"
    assert send.sent == 0


def test_a_lost_row_after_others_is_found_under_its_own_number():
    run = claimed_run()
    with pytest.raises(ZeroDivisionError):
        buy(run, Sender(ZeroDivisionError()))
    buy(run)
    Call.objects.filter(number=2).delete()
    send = Sender()

    assert buy(run, send).raw == b"picture"
    assert (send.sent, states()) == (0, ["unknown", "stored"])


def test_a_found_answer_that_is_garbage_is_bought_anew():
    run = claimed_run()
    buy(run)
    lose_the_books()
    bought = buy(run)
    ledger.end(bought.call, State.FAILED, "garbage")
    send = Sender()

    buy(run, send)

    assert (send.sent, states()) == (1, ["failed", "stored"])


def test_an_answer_whose_name_was_taken_meanwhile_is_not_gone():
    """Another worker, whose row was lost, stores its answer while ours is on its way."""
    run = claimed_run()

    def send(timeout):
        storage.named("answers").put(Call.objects.get().answer_name, b"theirs")
        return Answer(raw=b"ours")

    assert buy(run, send).raw == b"theirs"
    assert buy(run, Sender()).raw == b"theirs"
    assert states() == ["stored"]


def test_a_late_worker_does_not_end_a_call_that_has_got_its_primary_key():
    """After a failover the sequence may give the same number to another call."""
    intent = ledger.begin(claimed_run("one"), SHOP, "k1", PAYLOAD)
    lose_the_books()
    other = ledger.begin(claimed_run("two"), SHOP, "k2", PAYLOAD)
    Call.objects.update(id=intent.call.pk)

    ledger.end(intent.call, State.STORED, cost=Decimal(7), answer_hash="ab" * 32)

    assert (states(), shop().spent_today) == (["intent"], Decimal("0.04"))
    assert Call.objects.get().key == other.call.key


def test_a_worker_whose_row_was_lost_brings_its_answer_all_the_same():
    run = claimed_run()

    def send(timeout):
        lose_the_books()
        return Answer(raw=b"picture")

    assert buy(run, send).raw == b"picture"
    assert answers.adopt(run, SHOP, calls.key_of(run.job, PAYLOAD), PAYLOAD).raw == b"picture"


def test_an_unsent_call_whose_name_has_an_answer_is_not_withdrawn():
    """The answer came from a worker whose row was lost, and a third worker found it."""
    intent = ledger.begin(claimed_run(), SHOP, "k1", PAYLOAD)
    storage.named("answers").put(intent.call.answer_name, b"theirs")
    assert answers.recover("k1").raw == b"theirs"

    intent.withdraw("late")

    assert (states(), shop().spent_today) == (["stored"], Decimal("0.04"))


def test_an_epoch_given_out_twice_buys_nothing_for_the_late_worker():
    late = claimed_run(worker="late")
    Order.objects.update(locked_by="quick")  # the claim was lost, and another got the same epoch

    with pytest.raises(LeaseLost, match="claim is gone"):
        buy(late)

    assert states() == []
