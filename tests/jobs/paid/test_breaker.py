"""Faults pause a provider for all workers, longer each time; then one job tries it again."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from jobs import queue
from jobs.errors import (
    AnswerLost,
    GarbageAnswer,
    OperatorsFault,
    ProviderUnavailable,
    StorageUnavailable,
)
from jobs.models import Provider
from jobs.models.provider import BREAKER_FAULTS
from jobs.paid import breaker, calls, pausing
from jobs.queue import outcomes
from tests.jobs import orders
from tests.jobs.conftest import LEASE
from tests.jobs.orders import SHOP, Sender, buy, claimed_run, order, shop
from tests.testapp.models import Order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("pictures")]
opened = orders.opened


def fault(error=None):
    return breaker.note_fault(SHOP, error or ProviderUnavailable(reason="503"))


def let_the_pause_end():
    Provider.objects.update(paused_until=Now() - timedelta(seconds=1))


def pause_left():
    return shop().paused_until - shop().now


def is_paused_for(pause, since):
    """Whether a pause of this length began after `since`, a moment of the database's clock."""
    return since + pause <= shop().paused_until <= shop().now + pause


def test_retry_after_pauses_for_everybody_as_long_as_told():
    before = shop().now
    with pytest.raises(ProviderUnavailable):
        buy(claimed_run(), Sender(ProviderUnavailable(retry_after=30, reason="429")))

    assert is_paused_for(timedelta(seconds=30), since=before)
    order("another")
    assert queue.claim(Order, 1, "other", LEASE) == []


def test_without_it_the_pauses_grow():
    lengths = []
    for _ in range(4):
        lengths.append(fault())
        let_the_pause_end()

    assert lengths[0] <= timedelta(seconds=5)
    assert timedelta(seconds=20) <= lengths[3] <= timedelta(seconds=40)


def test_the_job_waits_as_long_as_its_provider():
    error = ProviderUnavailable(reason="503")
    before = shop().now

    with pytest.raises(ProviderUnavailable):
        buy(claimed_run(), Sender(error))

    assert is_paused_for(timedelta(seconds=error.retry_after), since=before)


def test_a_fault_tells_the_pause_and_leaves_the_error_alone():
    error = ProviderUnavailable(reason="503")
    before = shop().now

    pause = fault(error)

    assert is_paused_for(pause, since=before)
    assert error.retry_after is None
    assert fault(OperatorsFault(reason="401")) is None


def test_faults_of_calls_under_way_belong_to_the_one_that_set_the_pause():
    for _ in range(8):
        fault(ProviderUnavailable(retry_after=30))

    assert shop().faults == 1


def test_an_automatic_pause_does_not_shorten_an_operators():
    pausing.pause(SHOP, "maintenance", until=shop().now + timedelta(hours=2))

    fault(ProviderUnavailable(retry_after=30))

    assert pause_left() > timedelta(hours=1)
    assert shop().pause_reason == "maintenance"


def test_nonsense_for_retry_after_is_bounded():
    fault(ProviderUnavailable(retry_after=1e12))

    assert pause_left() <= timedelta(days=1)


def test_a_few_lost_answers_pause_nothing_but_the_fifth_in_a_row_does():
    for _ in range(4):
        fault(AnswerLost(reason="reset"))
    assert not shop().is_paused

    fault(AnswerLost(reason="reset"))

    assert shop().is_paused


def test_garbage_counts_as_a_fault():
    with pytest.raises(GarbageAnswer):
        buy(claimed_run(), Sender(GarbageAnswer("<html>")))

    assert shop().faults == 1


def test_after_five_faults_one_job_at_a_time_finds_out():
    Provider.objects.update(faults=5)
    order("one")
    order("two")

    assert len(queue.claim(Order, 8, "fast", LEASE)) == 1
    assert queue.claim(Order, 8, "other", LEASE) == []


def test_an_answer_ends_the_row_of_faults():
    Provider.objects.update(faults=5)

    buy(claimed_run())

    assert shop().faults == 0


def test_an_operators_fault_pauses_until_a_person_resumes():
    with pytest.raises(OperatorsFault):
        buy(claimed_run(), Sender(OperatorsFault(reason="GEMINI_API_KEY is wrong")))

    assert (shop().paused, shop().pause_reason) == (True, "GEMINI_API_KEY is wrong")


def test_what_an_operator_wrote_is_not_overwritten_by_a_fault():
    pausing.pause(SHOP, "the bill is due")

    fault(ProviderUnavailable(retry_after=30, reason="429"))

    assert shop().pause_reason == "the bill is due"


def test_an_operators_own_reason_outlives_an_operators_fault():
    pausing.pause(SHOP, "the bill is due")

    fault(OperatorsFault(reason="401"))

    assert shop().pause_reason == "the bill is due"


def test_a_tiny_retry_after_does_not_keep_pauses_from_growing():
    for _ in range(7):
        fault(ProviderUnavailable(retry_after=1))
        let_the_pause_end()

    fault(ProviderUnavailable(retry_after=1))

    assert pause_left() > timedelta(minutes=2)


def test_waiting_for_an_operator_costs_no_patience(worker):
    run = claimed_run()
    Order.objects.update(unavailable_since=Now() - timedelta(days=3))

    worker.fail(run.job, OperatorsFault(reason="401"))

    job = Order.objects.get()
    assert (job.status, job.unavailable_since) == ("queued", None)


def test_patience_begins_anew_with_an_answer():
    run = claimed_run()
    Order.objects.update(unavailable_since=Now() - timedelta(days=3))
    buy(run)
    end = outcomes.from_error(run.job, StorageUnavailable(reason="503"))
    end.has_answer = run.has_answer

    queue.settle([end])

    job = Order.objects.get()
    assert job.status == "queued"
    assert shop().now - job.unavailable_since < timedelta(minutes=1)


def test_bought_garbage_opens_the_breaker_like_any_fault():
    """Else a service that sells nothing but garbage would be paid until the budget is spent."""
    for number in range(BREAKER_FAULTS):
        bought = buy(claimed_run(f"lamp {number}"))
        with pytest.raises(GarbageAnswer), calls.using(bought):
            raise GarbageAnswer("not a picture")

    assert shop().faults == BREAKER_FAULTS
    assert shop().is_paused
