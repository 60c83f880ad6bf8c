"""Paid calls: no answer is bought twice, and every possible purchase is on record."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import OperationalError
from django.db.models.functions import Now
from psycopg.errors import LockNotAvailable

from jobs import queue, storage
from jobs.errors import (
    AnswerGone,
    AnswerLost,
    GarbageAnswer,
    LeaseLost,
    OutcomeUnknown,
    Snooze,
)
from jobs.models import Call, Outcome, Provider, Worker
from jobs.paid import answers, calls, ledger
from jobs.paid.clients import Answer
from jobs.queue.outcomes import End
from jobs.worker.crew import perform
from tests.jobs import orders
from tests.jobs.conftest import expire_lease
from tests.jobs.orders import (
    PAYLOAD,
    SHOP,
    Sender,
    again,
    buy,
    claimed_run,
    crash_in_flight,
    order,
    shop,
    states,
)
from tests.testapp.models import Order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("pictures")]
opened = orders.opened


# An answer that is stored


def test_an_answer_is_stored_with_what_is_known_of_it():
    run = claimed_run()

    bought = buy(run)

    call = Call.objects.get()
    assert (call.state, call.remote_id, call.answer_size) == ("stored", "r-1", 7)
    assert (call.job_id, call.epoch, call.worker) == (run.job.id, run.epoch, "fast")
    assert storage.named("answers").read(f"calls/{call.key}/1") == bought.raw == b"picture"


def test_the_intent_is_on_record_before_anything_is_sent():
    seen = []

    def send(timeout):
        seen.extend([*states(), shop().spent_today])
        return Answer(raw=b"picture")

    buy(claimed_run(), send)

    assert seen == ["intent", Decimal("0.04")]


def test_a_stored_answer_is_never_bought_again():
    run = claimed_run()
    buy(run)
    send = Sender()

    bought = buy(again(run), send)

    assert (bought.raw, send.sent) == (b"picture", 0)
    assert shop().spent_today == Decimal("0.04")


def test_an_answer_stored_by_a_worker_that_died_before_saying_so_is_found():
    run = claimed_run()
    crash_in_flight(run)
    storage.named("answers").put(Call.objects.get().answer_name, b"picture")
    send = Sender()

    assert buy(again(run), send).raw == b"picture"
    assert (send.sent, states()) == (0, ["stored"])


def test_another_payload_is_another_purchase():
    run = claimed_run()
    buy(run)

    buy(run, payload="cd" * 32)

    assert states() == ["stored", "stored"]


def test_resuming_from_a_stored_answer_takes_nothing():
    run = claimed_run()
    buy(run)
    run = again(run)
    Provider.objects.update(paused=True)

    assert buy(run).raw == b"picture"


def test_a_stored_answer_that_is_gone_is_not_bought_again_without_a_person():
    run = claimed_run()
    buy(run)
    Call.objects.update(answer_name="calls/elsewhere/1")
    run, send = again(run), Sender()
    with pytest.raises(AnswerGone, match="calls/elsewhere/1 is gone") as gone:
        buy(run, send)
    assert send.sent == 0

    queue.settle([End(run.job, Outcome.FAILED, error=gone.value, final=True)])
    queue.requeue(Order.objects.all())
    buy(claimed_run(), send)

    assert (send.sent, states()) == (1, ["failed", "stored"])


def test_an_answer_that_comes_while_the_next_run_waits_for_its_token_is_used():
    run = claimed_run()

    def late(timeout):
        other = again(run)
        assert answers.recover(Call.objects.get().key) is None
        waiting.append(other)
        return Answer(raw=b"late")

    waiting = []
    buy(run, late)
    [other] = waiting
    send = Sender()
    with pytest.raises(Snooze):  # `other` looked before the answer was stored
        ledger.begin(other, SHOP, Call.objects.get().key, PAYLOAD)

    assert buy(other, send).raw == b"late"
    assert send.sent == 0


def test_an_answer_that_can_not_be_used_is_bought_anew_by_the_next_attempt():
    run = claimed_run()
    with pytest.raises(GarbageAnswer), calls.using(buy(run)):
        raise GarbageAnswer("no picture")
    send = Sender()

    buy(run, send)

    assert (send.sent, states()) == (1, ["failed", "stored"])
    assert shop().spent_today == Decimal("0.08")


# An answer that was lost


def test_a_call_of_a_worker_that_vanished_is_unknown_and_made_again():
    run = claimed_run()
    crash_in_flight(run)

    buy(again(run))

    assert states() == ["unknown", "stored"]
    assert shop().spent_today == Decimal("0.08")


def test_a_call_whose_worker_lives_is_waited_for():
    run = claimed_run()
    crash_in_flight(run)
    Worker.objects.create(name="fast", slots=1, lease_expires_at=Now() + timedelta(minutes=1))
    send = Sender()

    with pytest.raises(Snooze, match="still under way"):
        buy(again(run), send)

    assert (send.sent, states()) == (0, ["intent"])


def test_a_living_worker_is_not_waited_for_for_ever():
    run = claimed_run()
    crash_in_flight(run)
    Worker.objects.create(name="fast", slots=1, lease_expires_at=Now() + timedelta(minutes=1))
    Call.objects.update(deadline=Now() - timedelta(minutes=1))

    buy(again(run))

    assert states() == ["unknown", "stored"]


def test_the_third_lost_answer_ends_it_for_a_person_to_decide():
    run = claimed_run()
    lost = Sender(AnswerLost(reason="reset"))
    for _ in range(2):
        with pytest.raises(AnswerLost):
            buy(run, lost)

    with pytest.raises(OutcomeUnknown, match="3 calls may have been paid"):
        buy(run, lost)
    with pytest.raises(OutcomeUnknown):
        buy(run, lost)

    assert lost.sent == 3
    assert shop().spent_today == Decimal("0.12")


def test_with_no_repeats_the_first_lost_answer_ends_it(settings):
    settings.UNKNOWN_REPEATS = 0

    with pytest.raises(OutcomeUnknown):
        buy(claimed_run(), Sender(AnswerLost(reason="reset")))


def test_a_person_who_requeues_lets_it_ask_again(settings):
    settings.UNKNOWN_REPEATS = 0
    run = claimed_run()
    with pytest.raises(OutcomeUnknown) as unknown:
        buy(run, Sender(AnswerLost(reason="reset")))
    queue.settle([End(run.job, Outcome.FAILED, error=unknown.value, final=True)])

    queue.requeue(Order.objects.all())

    assert buy(claimed_run()).raw == b"picture"


def test_an_error_nobody_expected_may_have_been_paid_for():
    with pytest.raises(ZeroDivisionError):
        buy(claimed_run(), Sender(ZeroDivisionError()))

    assert states() == ["unknown"]
    assert shop().spent_today == Decimal("0.04")


def test_a_late_answer_is_stored_though_the_claim_and_the_call_were_given_up():
    run = claimed_run()

    def late(timeout):
        again(run)
        answers.recover(Call.objects.get().key)
        assert states() == ["unknown"]
        return Answer(raw=b"late")

    buy(run, late)

    assert states() == ["stored"]


# The claim


def test_nothing_is_bought_for_a_claim_that_is_gone():
    run = claimed_run()
    again(run)
    send = Sender()

    with pytest.raises(LeaseLost):
        buy(run, send)

    assert (send.sent, shop().spent_today) == (0, 0)


def test_nothing_is_bought_on_an_expired_lease():
    run = claimed_run()
    expire_lease(run.job)

    with pytest.raises(LeaseLost):
        buy(run)


def test_two_jobs_never_share_an_answer():
    first, second = order("one"), order("two")

    assert calls.key_of(first, PAYLOAD) != calls.key_of(second, PAYLOAD)


@pytest.mark.postgres
def test_a_provider_locked_by_others_uses_no_attempt():
    run = claimed_run()
    timeout = OperationalError("lock timeout")
    timeout.__cause__ = LockNotAvailable()

    def locked(*arguments):
        raise timeout

    run.job.perform = locked
    end = perform(run, "fast")

    assert end.outcome == Outcome.UNAVAILABLE
