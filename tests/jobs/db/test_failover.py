"""A real standby takes over, with or without the last commits of the primary."""

import threading
from functools import partial

import pytest

from jobs import queue
from jobs.models import Attempt, Call, Status
from tests.jobs import pair as pairs
from tests.jobs.conftest import LEASE, new_chore
from tests.jobs.orders import Sender, buy, claimed_run, open_shop, order, run_of, shop, states
from tests.jobs.processes import wait_until
from tests.testapp.models import Chore, Effect, Order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]
pair = pairs.pair


@pytest.mark.long
def test_a_claim_that_a_failover_lost_ends_nothing_and_buys_nothing(pair, slow_worker, worker):
    pair.start(synchronous=False)
    new_chore("sweep")
    open_shop()
    order()
    pair.cut()
    late, late_order = slow_worker.claim_one(), slow_worker.claim_one(Order)
    pair.fail_over()
    current, current_order = worker.claim_one(), worker.claim_one(Order)
    send = Sender()

    with pytest.raises(Exception, match="claim is gone"):
        buy(run_of(late_order), send)
    [missed] = slow_worker.succeed(late, result="late")
    beaten = queue.beat(Chore, {late.id: late.epoch}, "slow", LEASE)
    worker.succeed(current, result="current")

    assert (late.epoch, late_order.epoch) == (current.epoch, current_order.epoch)
    assert (missed.job, beaten, send.sent) == (late, set(), 0)
    assert Effect.objects.get().result == "current"
    assert Attempt.objects.get().worker == "fast"


@pytest.mark.usefixtures("pictures")
def test_an_answer_whose_call_a_failover_lost_is_not_bought_again(pair):
    pair.start(synchronous=False)
    open_shop()
    order()
    pair.cut()
    late = claimed_run(worker="slow")
    buy(late, bought := Sender())
    pair.fail_over()
    send = Sender()

    lost = states()
    answer = buy(claimed_run(), send)

    assert (bought.sent, lost, send.sent) == (1, [], 0)
    assert (answer.raw, states()) == (b"picture", ["stored"])
    assert shop().spent_today == Call.objects.get().cost > 0


def test_a_settlement_that_a_failover_lost_is_made_again_and_once(pair, worker):
    pair.start(synchronous=False)
    chore = new_chore("sweep")
    claimed = worker.claim_one()
    pair.catch_up()
    pair.cut()
    worker.succeed(claimed)
    pair.fail_over()
    remembered = Chore.objects.get().status

    assert worker.succeed(claimed) == []  # as a worker does that heard nothing of its COMMIT
    [missed] = worker.succeed(claimed)

    assert (remembered, missed.job) == (Status.PROCESSING, claimed)
    assert Effect.objects.get().job_id == Attempt.objects.get().job_id == chore.id


def test_a_commit_that_may_be_lost_in_a_failover_is_logged(pair, caplog):
    pair.start(synchronous=True)
    pair.standby.kill()

    cancel = partial(wait_until, lambda: pair.primary.ask(CANCEL_WAITING_COMMITS))
    thread = threading.Thread(target=cancel)
    thread.start()
    new_chore("sweep")  # returns when its COMMIT is canceled
    thread.join()

    [line] = [line for line in caplog.messages if "might not have been replicated" in line]
    assert "\n" not in line


CANCEL_WAITING_COMMITS = (
    "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
)
