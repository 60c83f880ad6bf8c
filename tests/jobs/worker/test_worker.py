"""A worker in this process: what it does with jobs that end in every way."""

import threading
import time
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from jobs import queue
from jobs.models import Attempt, Status, Worker
from jobs.worker import held
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.jobs.conftest import expire_lease, new_chore
from tests.jobs.processes import wait_until
from tests.jobs.running import running
from tests.testapp.models import Chore, Effect, Hooked, NoopJob

pytestmark = pytest.mark.django_db(transaction=True)


def loop(*models, **options):
    return Loop(models or [Chore], Options(**options))


def drain(*models, **options):
    worker = loop(*models, **options)
    assert worker.run(drain=True) == 0
    return worker


@pytest.fixture
def finish(monkeypatch):
    """No chore ends before the test sets this."""
    finish = threading.Event()
    monkeypatch.setattr(Chore, "perform", lambda chore, run: finish.wait(60))
    yield finish
    finish.set()


@pytest.mark.parametrize(
    ("script", "status", "attempts"),
    [
        ("", "succeeded", 0),
        ("fail", "failed", 3),
        ("fail_for_good", "failed", 1),
        ("snooze", "queued", 0),
        ("cancel", "canceled", 0),
        ("wait_for_provider", "queued", 0),
        ("exit", "failed", 3),
        ("interrupt", "failed", 3),
    ],
)
def test_a_job_ends_as_its_perform_says(script, status, attempts, monkeypatch):
    monkeypatch.setattr(Chore, "backoff_base", timedelta(0))
    new_chore("sweep", script=script)

    drain()

    row = Chore.objects.get()
    assert (row.status, row.attempts) == (status, attempts)


def test_a_drained_queue_is_empty():
    queue.enqueue(NoopJob() for _ in range(1000))

    drain(NoopJob, slots=4)

    assert NoopJob.objects.filter(status=Status.SUCCEEDED).count() == 1000
    assert Attempt.objects.count() == 1000


def test_a_worker_without_job_models_has_nothing_to_do():
    assert Loop([], Options()).run(drain=True) == 0


def test_jobs_run_side_by_side(monkeypatch):
    all_four = threading.Barrier(4)
    monkeypatch.setattr(Chore, "perform", lambda chore, run: all_four.wait(60))
    for name in "abcd":
        new_chore(name, max_attempts=1)

    drain(slots=4)

    assert Chore.objects.filter(status=Status.SUCCEEDED).count() == 4


def test_all_models_get_their_turn():
    queue.enqueue(NoopJob() for _ in range(20))
    queue.enqueue(Hooked(name=str(number)) for number in range(20))

    worker = loop(NoopJob, Hooked, slots=4)
    worker.claim()

    kinds = [type(run.job) for run in worker.held.runs.values()]
    assert kinds.count(NoopJob) == kinds.count(Hooked) == 2


def test_only_the_chosen_models_are_run(chore):
    queue.enqueue([NoopJob()])

    drain(NoopJob)

    assert Chore.objects.get().status == Status.QUEUED


def test_jobs_that_wait_too_long_for_a_slot_are_given_back(finish):
    for name in "abc":
        new_chore(name)
    worker = loop(Chore, slots=1)
    worker.intake.pace[Chore] = 0.00001
    worker.start(Chore, 3)
    wait_until(lambda: min(run.deadline for run in worker.held.runs.values()) < float("inf"))
    for run in worker.held.runs.values():
        run.claimed_at -= 10

    worker.collect()
    worker.held.settle()

    assert Chore.objects.filter(status=Status.QUEUED).count() == 2
    assert worker.intake.room(Chore, worker.held.counts) == 0
    finish.set()
    wait_until(lambda: worker.crew._ended)


def test_a_job_claimed_anew_ends_its_old_run(monkeypatch):
    chore = new_chore("sweep", script="stop_when_told")
    worker = loop(Chore, slots=1)
    worker.start(Chore, 1)
    [old] = worker.held.runs.values()
    wait_until(lambda: old.deadline < float("inf"))
    expire_lease(chore)
    queue.rescue(Chore)
    Chore.objects.update(run_after=Now(), script="")

    worker.start(Chore, 1)

    assert old.should_stop
    wait_until(worker.crew.take_ended)
    wait_until(lambda: not worker.crew.abandoned)


def test_nothing_is_rescued_right_after_an_outage(slow_worker, chore):
    expire_lease(slow_worker.claim_one())
    worker = loop(Chore)
    worker.outage.over_at = time.monotonic()

    worker.look()

    assert Chore.objects.get().status == Status.PROCESSING


def test_a_worker_does_not_rescue_what_it_runs_itself(chore):
    worker = loop(Chore)
    Chore.objects.update(seconds=0.3)
    worker.start(Chore, 1)
    expire_lease(chore)

    worker.look()

    assert Chore.objects.get().status == Status.PROCESSING
    wait_until(lambda: worker.crew._ended)


def test_a_timed_out_run_keeps_the_steps_it_made(monkeypatch):
    def perform(self, run):
        with run.step("first"):
            pass
        run.allow(timedelta(0))  # from here on it is late
        threading.Event().wait()

    monkeypatch.setattr(Chore, "perform", perform)
    new_chore("sweep", max_attempts=1)

    drain(poll=0.1)

    attempt = Attempt.objects.get()
    assert attempt.outcome == "timed_out"
    assert "first" in attempt.steps


def test_a_job_past_its_timeout_is_given_up(monkeypatch):
    monkeypatch.setattr(Chore, "timeout", timedelta(seconds=0.2))
    new_chore("sweep", script="hang", max_attempts=1)

    worker = drain()

    assert Chore.objects.get().error_kind == "TimedOut"
    assert Attempt.objects.get().outcome == "timed_out"
    assert len(worker.crew.hung) == 1


def test_too_many_hung_threads_end_the_worker(monkeypatch):
    monkeypatch.setattr(Chore, "timeout", timedelta(seconds=0.2))
    for name in "abcd":
        new_chore(name, script="hang", max_attempts=1)

    assert loop(Chore, slots=2).run() == 1


def test_a_dead_workers_job_is_rescued_and_done(slow_worker, chore):
    expire_lease(slow_worker.claim_one())

    with running(loop(Chore)):
        wait_until(lambda: Chore.objects.filter(status=Status.SUCCEEDED).exists())

    assert Chore.objects.get().interruptions == 1
    assert Effect.objects.count() == 1


def test_a_suspect_runs_with_no_neighbours(chore):
    Chore.objects.update(interruptions=2, seconds=0.3)
    queue.enqueue(NoopJob() for _ in range(5))

    drain(Chore, NoopJob)

    suspect = Attempt.objects.get(kind="testapp.Chore")
    overlapping = Attempt.objects.exclude(id=suspect.id).filter(
        started_at__lt=suspect.ended_at, ended_at__gt=suspect.started_at
    )
    assert Chore.objects.get().status == Status.SUCCEEDED
    assert not overlapping.exists()


def test_a_canceled_run_is_told_to_stop():
    new_chore("sweep", script="stop_when_told")

    with running(loop(Chore)) as worker:
        wait_until(lambda: worker.held.runs)
        queue.cancel(Chore.objects.all())
        worker.heartbeat.beat()
        wait_until(lambda: not worker.held.runs)

    assert Chore.objects.get().status == Status.CANCELED


def test_a_stopping_worker_finishes_what_runs_and_gives_back_the_rest(finish, monkeypatch):
    monkeypatch.setattr(held, "OVERSLEPT", float("inf"))  # it gives nothing back before
    new_chore("running")
    worker = loop(Chore, slots=1)
    worker.intake.pace[Chore] = 0.00001  # so that it claims ahead
    with running(worker):
        wait_until(lambda: Chore.objects.filter(status=Status.PROCESSING).exists())
        queue.enqueue(Chore(name=f"ahead {number}") for number in range(3))
        worker.hear([Chore._meta.label])
        wait_until(lambda: len(worker.held.runs) == 4)
        worker.stop()
        wait_until(lambda: Chore.objects.filter(status=Status.QUEUED, attempts=0).count() == 3)
        finish.set()
        wait_until(lambda: Chore.objects.get(name="running").status == Status.SUCCEEDED)

    assert Chore.objects.filter(status=Status.QUEUED, attempts=0).count() == 3


def test_a_worker_is_listed_while_it_lives():
    with running(loop(Chore, slots=3)) as worker:
        wait_until(Worker.objects.exists)
        row = Worker.objects.get()
        assert (row.name, row.slots, row.draining) == (worker.name, 3, False)
        assert row.version

    assert not Worker.objects.exists()


def test_workers_that_vanished_are_forgotten():
    Worker.objects.create(
        name="ghost", slots=1, version="0", lease_expires_at=Now() - timedelta(hours=1)
    )

    with running(loop(Chore)):
        wait_until(lambda: not Worker.objects.filter(name="ghost").exists())
