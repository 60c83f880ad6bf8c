"""A worker in this process, in trouble: what it keeps, what it tries again, what ends it."""

import time
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.db import OperationalError

from jobs import queue
from jobs.models import Status
from jobs.run import Run
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.jobs.conftest import expire_lease, new_chore
from tests.jobs.databases import without_table
from tests.jobs.processes import wait_until
from tests.jobs.running import running
from tests.jobs.unreadable import Unreadable
from tests.testapp.models import Chore, NoopJob

pytestmark = pytest.mark.django_db(transaction=True)


def loop(*models, **options):
    return Loop(models or [Chore], Options(**options))


def drain(*models, **options):
    worker = loop(*models, **options)
    assert worker.run(drain=True) == 0
    return worker


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), KeyboardInterrupt()])
def test_an_error_that_can_not_be_read_ends_no_worker(monkeypatch, error):
    monkeypatch.setattr(Chore, "perform", Mock(side_effect=Unreadable(error)))
    new_chore("sweep", max_attempts=1)

    drain()

    assert Chore.objects.get().error_kind == "Unreadable"


def test_results_keep_their_leases_until_they_are_settled(chore):
    worker = loop()
    worker.claim()
    wait_until(lambda: worker.crew._ended)
    worker.collect()

    expires = Chore.objects.get().lease_expires_at
    worker.heartbeat.beat()

    assert Chore.objects.get().lease_expires_at > expires


def test_a_job_claimed_anew_is_not_lost_by_the_beat_of_its_old_claim(chore):
    worker = loop()
    worker.claim()
    wait_until(lambda: worker.crew._ended)
    worker.collect()  # ended, and not settled
    queue.cancel(Chore.objects.all())
    queue.requeue(Chore.objects.all())
    worker.crew.hand_over = Run.begin_once  # nobody performs it
    worker.start(Chore, 1)
    [run] = worker.held.runs.values()

    worker.heartbeat.beat()

    assert not run.is_lost


def test_a_lost_run_is_told_before_a_fresh_pulse_lets_it_buy(chore, monkeypatch):
    worker = loop()
    worker.crew.hand_over = Run.begin_once  # nobody performs it
    worker.claim()
    [run] = worker.held.runs.values()
    queue.cancel(Chore.objects.all())
    known = []
    monkeypatch.setattr(worker.heartbeat.pulse, "confirm", lambda *_: known.append(run.is_lost))

    worker.heartbeat.beat()

    assert known == [True]


def test_an_idle_worker_logs_that_the_database_is_away(monkeypatch, caplog):
    worker = loop()
    worker.turn()
    monkeypatch.setattr("jobs.worker.survey.ask", Mock(side_effect=OperationalError("away")))
    worker.lookout.look_at_all_soon()

    for _ in range(3):
        worker.turn()

    assert worker.outage.faults == 3
    assert caplog.text.count("trying again until it can: away") == 1


def test_nothing_is_rescued_in_the_turn_that_ends_an_outage(slow_worker, chore):
    expire_lease(slow_worker.claim_one())
    worker = loop()
    worker.outage.note(OperationalError("away"))

    worker.work()

    assert Chore.objects.get().status == Status.PROCESSING


def test_a_model_that_can_not_be_asked_stops_no_other():
    queue.enqueue([NoopJob()])
    worker = loop(NoopJob, Chore)
    worker.heartbeat.beat()

    with without_table(Chore):
        worker.look()
        worker.claim()

    assert Chore in worker.intake.aside
    assert len(worker.held.runs) == 1


def test_a_turn_that_fails_by_no_fault_of_the_database_is_tried_again(chore, monkeypatch):
    worker = loop()
    failures = iter([RuntimeError("can't start new thread")])
    look = worker.look
    monkeypatch.setattr(worker, "look", lambda: raise_first(failures) or look())

    with running(worker):
        wait_until(lambda: Chore.objects.filter(status=Status.SUCCEEDED).exists())

    assert worker.stopping.exit_code == 0


def test_a_worker_whose_turns_fail_again_and_again_ends_for_its_supervisor(monkeypatch):
    worker = loop()
    monkeypatch.setattr(worker, "look", Mock(side_effect=RuntimeError("for good")))
    monkeypatch.setattr("random.uniform", lambda *_: 0.0)

    assert worker.run() == 1


def raise_first(failures):
    for failure in failures:
        raise failure


def test_a_second_signal_ends_a_worker_whose_last_result_can_not_be_written(chore, monkeypatch):
    worker = loop(lease=timedelta(seconds=2))
    worker.claim()
    wait_until(lambda: worker.crew._ended)
    worker.collect()
    worker.stop()
    worker.stop()
    worker.collect()

    worker.stopping.stop_at -= 10

    assert worker.held
    assert worker.is_done(drain=False)


def test_the_first_beat_after_an_outage_lets_the_worker_settle_at_once(chore):
    worker = loop()
    worker.retry_at = float("inf")

    worker.come_back()

    assert worker.retry_at < time.monotonic()
