"""A worker whose time is limited begins no paid call that could outlast it."""

import time
from functools import partial

import pytest
from django.db.models.functions import Now

from jobs import queue
from jobs.errors import NoTime
from jobs.models import Attempt, Call, Status, Worker
from jobs.paid import ledger, limits
from jobs.run import Pulse, Run
from jobs.worker import ahead, stint
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.jobs.conftest import SimulatedWorker, new_chore
from tests.jobs.orders import SHOP, Sender, buy, open_shop, order, shop
from tests.jobs.processes import wait_until
from tests.jobs.running import begun, end_time, running
from tests.testapp.models import Chore, Order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("pictures")]


def run_with(seconds):
    """A claimed order, of a worker that ends after this many seconds."""
    order()
    [job] = SimulatedWorker("brief").claim(Order)
    run = Run(job, Pulse(60), time.monotonic(), time.monotonic() + seconds)
    run.start()
    return run


def test_a_call_that_could_outlast_its_worker_is_not_begun():
    open_shop(timeout=25, requests_per_minute=60)
    send = Sender()

    with pytest.raises(NoTime, match="may take 25 s"):
        buy(run_with(seconds=26), send)

    assert (send.sent, Call.objects.count(), shop().spent_today) == (0, 0, 0)


def test_a_call_that_fits_is_made():
    open_shop(timeout=25)

    assert buy(run_with(seconds=30)).raw == b"picture"


def test_what_costs_nothing_may_be_cut_off(monkeypatch):
    monkeypatch.setattr(Order, "provider_is_free", lambda: True)
    open_shop(timeout=25)

    assert buy(run_with(seconds=5)).raw == b"picture"


def test_jobs_whose_calls_do_not_fit_are_not_even_claimed():
    open_shop(timeout=25)
    order()
    new_chore("quick")

    report = stint.work(seconds=10, jobs=9, way="test")

    assert (report.claimed, report.outcomes["succeeded"]) == (1, 1)
    assert (Order.objects.get().status, Order.objects.get().epoch) == (Status.QUEUED, 0)
    left = ahead.look(seconds=10)
    assert (left.is_due, left.next_at, left.too_slow) == (False, None, [SHOP])


def test_a_job_whose_call_no_longer_fits_goes_back_without_an_attempt(monkeypatch):
    """Its provider's timeout was raised between the claim and the call."""
    open_shop(timeout=1)
    order()
    begin = ledger.begin

    def raise_timeout(*arguments):
        limits.Provider.objects.update(timeout=60)
        return begin(*arguments)

    monkeypatch.setattr(ledger, "begin", raise_timeout)

    report = stint.work(seconds=50, jobs=9, way="test")

    assert (report.claimed, report.outcomes["snoozed"]) == (1, 1)
    job = Order.objects.get()
    assert (job.status, job.attempts) == (Status.QUEUED, 0)
    assert "may take 60 s" in Attempt.objects.get().error


def test_an_answer_that_comes_after_the_end_is_not_bought_again(counter, monkeypatch):
    """The storage may take longer than any timeout. Other workers wait for the answer."""
    queue.cancel(Order.objects.exclude(name="a"))

    with begun(monkeypatch, partial(stint.work, 50, 9, "test")) as (loops, report):
        wait_until(lambda: counter.asked)
        loops[0].stop()
        loops[0].stop()  # as when the time has been up for a second

    assert (counter.asked, report.result().outcomes["released"]) == (1, 1)
    assert not Order.objects.processing().exists()
    assert stint.work(seconds=50, jobs=9, way="test").outcomes["snoozed"] == 1
    counter.opened.set()
    wait_until(lambda: Call.objects.get().state == "stored")
    Order.objects.filter(name="a").update(run_after=Now())
    assert stint.work(seconds=50, jobs=9, way="test").outcomes["succeeded"] == 1
    assert counter.asked == 1


# Until the time is up


def test_after_its_time_a_worker_claims_no_more_and_ends_what_it_holds(monkeypatch, tmp_path):
    monkeypatch.setenv("GATE", str(tmp_path / "gate"))
    new_chore("first")
    new_chore("second")
    loop = Loop([Chore], Options(slots=1, way="test"))
    with running(loop):
        wait_until(lambda: loop.crew.performing)
        end_time(loop)
        wait_until(lambda: loop.stopping)
        (tmp_path / "gate").touch()
        wait_until(lambda: Worker.objects.filter(ended_at__isnull=False).exists())

    assert [job.status for job in Chore.objects.order_by("created_at")] == ["succeeded", "queued"]


def test_a_worker_that_stays_leaves_no_row_and_one_that_does_not_is_remembered():
    Loop([Chore], Options()).run(drain=True)
    assert not Worker.objects.exists()

    for _ in range(7):
        Loop([Chore], Options(way="test")).run(drain=True)

    assert Worker.objects.filter(way="test", ended_at__isnull=False).count() == 5
    assert not Worker.objects.alive().exists()
