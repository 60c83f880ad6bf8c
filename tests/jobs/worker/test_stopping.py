"""What counts as a signal, and what a stopping worker waits for."""

import signal
from datetime import timedelta

from django.db.models.functions import Now

from jobs import queue
from jobs.models import Call, Status, Worker
from jobs.run import Run
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from jobs.worker.stopping import Stopping
from tests.jobs.processes import wait_until
from tests.jobs.running import running
from tests.testapp.models import Chore, Order


def test_one_signal_is_no_reason_to_hurry_and_two_are():
    stopping = Stopping(grace=60)

    stopping.signals += 1
    assert stopping
    assert not stopping.is_urgent

    stopping.signals += 1
    assert stopping.is_urgent


def test_a_signal_after_a_request_in_the_console_is_the_first():
    stopping = Stopping(grace=60)
    stopping.has_reason = True

    stopping.signals += 1

    assert stopping
    assert not stopping.is_urgent


def test_cancel_and_requeue_of_running_paid_jobs_ends_no_worker_and_pays_once(counter):
    loop = Loop([Order], Options(poll=0.05))
    with running(loop):
        wait_until(lambda: counter.asked == 4)
        queue.cancel(Order.objects.all())
        queue.requeue(Order.objects.all())
        wait_until(lambda: len(loop.crew.abandoned) == 4)
        assert not loop.stopping
        assert not loop.crew.hung
        counter.opened.set()
        wait_until(lambda: Call.objects.filter(state="stored").count() == 4)
        wait_until(all_have_succeeded)

    assert counter.asked == 4
    assert loop.stopping.exit_code == 0


def all_have_succeeded():
    """A run that looked before its answer was stored comes back later: let it come at once."""
    Order.objects.filter(status=Status.QUEUED).update(run_after="2020-01-01T00:00Z")
    return Order.objects.filter(status=Status.SUCCEEDED).count() == 4


def test_a_stopping_worker_waits_for_the_answers_of_abandoned_runs(counter):
    loop = Loop([Order], Options(poll=0.05))
    with running(loop) as loop:
        wait_until(lambda: counter.asked == 4)
        queue.cancel(Order.objects.all())
        queue.requeue(Order.objects.all())
        wait_until(lambda: len(loop.crew.abandoned) == 4)
        loop.stopping.has_reason = True
        loop.bell.ring()
        wait_until(lambda: loop.heartbeat.draining and not loop.held)
        assert not loop.is_done(drain=False)
        counter.opened.set()

    assert set(Call.objects.values_list("state", flat=True)) == {"stored"}


def test_a_request_to_stop_outlives_a_worker_that_is_frozen(transactional_db):
    loop = Loop([Order], Options())
    loop.heartbeat.beat()
    Worker.objects.update(asked_to_stop=True, lease_expires_at=Now() - timedelta(minutes=5))

    Loop([Order], Options()).heartbeat.beat()
    loop.heartbeat.beat()

    assert Worker.objects.get(name=loop.name).asked_to_stop


def test_a_stopping_worker_waits_for_what_is_being_paid_for(transactional_db, chore):
    worker = Loop([Chore], Options(grace=timedelta(0)))
    worker.crew.hand_over = Run.begin_once  # no thread performs it, so it runs for ever
    worker.start(Chore, 1)
    [run] = worker.held.runs.values()

    run.is_paying = True
    worker.stop()
    worker.collect()
    assert run in worker.held.runs.values()

    run.is_paying = False
    worker.collect()
    assert not worker.held.runs


def test_a_second_signal_gives_back_even_what_is_being_paid_for(transactional_db, chore):
    worker = Loop([Chore], Options())
    worker.crew.hand_over = Run.begin_once
    worker.start(Chore, 1)
    [run] = worker.held.runs.values()
    run.is_paying = True

    worker.stop()
    worker.stop()
    worker.collect()

    assert not worker.held.runs


def test_the_log_says_which_signals_ended_a_worker(transactional_db, caplog):
    caplog.set_level("INFO")
    loop = Loop([Chore], Options(lease=timedelta(seconds=2)))
    loop.stop(signal.SIGTERM, None)
    loop.stop(signal.SIGINT, None)

    loop.run()

    assert f"{loop.name} stopped by SIGTERM, then SIGINT." in caplog.messages


def test_without_a_signal_the_log_names_none(transactional_db, caplog):
    caplog.set_level("INFO")
    loop = Loop([Chore], Options(lease=timedelta(seconds=2)))

    loop.run(drain=True)

    assert f"{loop.name} stopped." in caplog.messages
