import time

import pytest
from django.db import connection, transaction

from jobs.db import sessions
from jobs.errors import LeaseLost
from jobs.run import Pulse, Run
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(worker, chore):
    run = Run(worker.claim_one(), Pulse(lease=60), claimed_at=time.monotonic())
    run.start()
    return run


def test_a_run_knows_its_epoch_and_attempt(run):
    assert (run.epoch, run.attempt) == (1, 1)


def test_steps_are_timed_and_summed(run):
    for _ in range(2):
        with run.step("paint"):
            time.sleep(0.01)

    assert run.steps["paint"] >= 20


def test_a_step_that_raises_is_timed_too(run):
    with pytest.raises(ValueError, match="no"), run.step("paint"):
        raise ValueError("no")

    assert "paint" in run.steps


def test_the_connection_is_given_back_for_a_step(run, give_back, monkeypatch):
    monkeypatch.setattr(sessions, "give_back", give_back)
    Chore.objects.exists()

    with run.step("paint"):
        assert connection.connection is None


def test_progress_is_written_for_people(run):
    with run.step("paint"):
        run.progress(1, 4, "sky")

    told = {"step": "paint", "done": 1, "total": 4, "text": "sky"}
    assert Chore.objects.get().progress == told


def test_progress_is_written_a_few_times_a_second_and_at_the_end(
    run, django_assert_num_queries, monkeypatch
):
    monkeypatch.setattr("jobs.run.WRITE_PROGRESS_EVERY", 3600)  # however slow the machine is
    with django_assert_num_queries(2):
        for done in range(101):
            run.progress(done, 100)

    assert Chore.objects.get().progress["done"] == 100


def test_progress_inside_a_transaction_is_refused(run):
    with pytest.raises(RuntimeError, match="inside a transaction"), transaction.atomic():
        run.progress(1, 2)


def test_progress_of_a_lost_claim_is_not_written(run):
    Chore.objects.update(epoch=7)

    run.progress(1, 2)

    assert Chore.objects.get().progress is None


def test_any_text_of_progress_can_be_written(run):
    run.progress(1, 1, "\x00\ud800" + "x" * 10_000)

    assert len(Chore.objects.get().progress["text"]) <= 500


def test_a_run_should_stop_when_told_or_late(run):
    assert not run.should_stop
    run.deadline = time.monotonic() - 1
    assert run.should_stop
    run.deadline = float("inf")
    run.stop("canceled")
    assert run.should_stop


def test_nothing_that_costs_money_is_begun_without_a_confirmed_beat(run):
    run.check()
    run.claimed_at = time.monotonic() - 41

    with pytest.raises(LeaseLost, match="No beat"):
        run.check()
    assert not run.should_stop  # the job may still finish

    run._pulse.confirm(type(run.job), time.monotonic())
    run.check()


def test_nothing_that_costs_money_is_begun_after_a_stop(run):
    run.stop("The worker is stopping.")

    with pytest.raises(LeaseLost, match="stopping"):
        run.check()
