"""Trouble with one job, one row or one table stops no other job."""

from contextlib import ExitStack
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from jobs import queue
from jobs.db import sessions
from jobs.models import Attempt, Status, Worker
from jobs.worker.alone import Reservation
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.jobs.conftest import elsewhere, make_due, new_chore
from tests.jobs.databases import SHORT
from tests.jobs.orders import open_shop, order
from tests.jobs.processes import wait_until
from tests.jobs.running import running
from tests.testapp.models import Chore, NoopJob, Order, Potter, Shelf

pytestmark = pytest.mark.django_db(transaction=True)

LEASE = timedelta(seconds=8)


def lock_shelf(name):
    list(Shelf.objects.select_for_update().filter(name=name))


def lock_table(model):
    with connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {model._meta.db_table} IN ACCESS EXCLUSIVE MODE")


def make_potters(*names, **columns):
    Shelf.objects.bulk_create(Shelf(name=name) for name in names)
    queue.enqueue([Potter(shelf=name, **columns) for name in names])


def status_of(name):
    return Potter.objects.get(shelf=name).status


# A locked row that a hook needs


@pytest.mark.postgres
def test_a_locked_row_keeps_only_its_own_job_from_starting():
    make_potters("a", "locked", "c")

    with elsewhere(lambda: lock_shelf("locked")), running(Loop([Potter], Options())):
        wait_until(lambda: status_of("a") == status_of("c") == Status.SUCCEEDED)
        assert status_of("locked") == Status.QUEUED

    assert Potter.objects.get(shelf="locked").attempts == 0


@pytest.mark.postgres
def test_a_locked_row_keeps_only_its_own_job_from_being_settled(worker):
    make_potters("a", "locked", "c")
    jobs = worker.claim(Potter, slots=3)

    with elsewhere(lambda: lock_shelf("locked")), sessions.with_patience(SHORT):
        [missed] = worker.succeed(*jobs)

    assert missed.is_busy
    assert missed.job.shelf == "locked"
    assert status_of("a") == status_of("c") == Status.SUCCEEDED
    assert worker.succeed(missed.job) == []


@pytest.mark.postgres
def test_a_job_whose_row_was_locked_is_done_when_it_is_free():
    make_potters("locked")

    with ExitStack() as lock:
        lock.enter_context(elsewhere(lambda: lock_shelf("locked")))
        with running(Loop([Potter], Options(poll=0.1))):
            wait_until(lambda: Potter.objects.filter(run_after__gt=Now()).exists())
            lock.close()
            make_due(Potter.objects.get())
            wait_until(lambda: status_of("locked") == Status.SUCCEEDED)

    assert Attempt.objects.get().outcome == "succeeded"


# A deferred constraint that a hook breaks


def test_an_on_start_that_breaks_a_deferred_constraint_is_an_attempt_of_its_job_alone(worker):
    make_potters("a", "c")
    make_potters("broken", breaks="on_start")

    claimed = worker.claim(Potter, slots=3)

    assert sorted(job.shelf for job in claimed) == ["a", "c"]
    broken = Potter.objects.get(shelf="broken")
    assert (broken.status, broken.attempts) == (Status.QUEUED, 1)
    assert broken.error_kind == "IntegrityError"


@pytest.mark.parametrize("within", [True, False])
def test_an_on_requeue_that_breaks_a_deferred_constraint_holds_up_nobody(worker, within):
    make_potters("a", "c")
    make_potters("broken", breaks="on_requeue")
    queue.cancel(Potter.objects.all())

    if within and connection.vendor == "postgresql":
        with transaction.atomic():  # as the console does, to write its audit
            moved = queue.requeue(Potter.objects.all())
    else:
        moved = queue.requeue(Potter.objects.all())

    assert len(moved) == 3
    assert set(Potter.objects.values_list("status", flat=True)) == {Status.QUEUED}


def test_an_on_cancel_that_breaks_a_deferred_constraint_holds_up_nobody():
    make_potters("a", "c")
    make_potters("broken", breaks="on_cancel")

    moved = queue.cancel(Potter.objects.all())

    assert len(moved) == 3
    assert set(Potter.objects.values_list("status", flat=True)) == {Status.CANCELED}


# A table under a lock


@pytest.mark.postgres
def test_a_locked_table_costs_no_other_model_its_leases(worker):
    new_chore("sweep", seconds=60)
    queue.enqueue([NoopJob()])
    loop = Loop([Chore, NoopJob], Options(lease=LEASE))
    loop.crew.hand_over = lambda run: None  # no thread performs them
    loop.claim()
    expires = NoopJob.objects.get().lease_expires_at

    with elsewhere(lambda: lock_table(Chore)):
        loop.heartbeat.beat()

    assert NoopJob.objects.get().lease_expires_at > expires
    assert loop.heartbeat.failing == {Chore}
    assert loop.heartbeat.pulse.last(NoopJob) > loop.heartbeat.pulse.last(Chore)


@pytest.mark.postgres
def test_beside_a_locked_table_the_other_models_jobs_are_done():
    new_chore("sweep")

    with running(Loop([Chore, NoopJob], Options(lease=LEASE, poll=0.1))) as loop:
        wait_until(lambda: Chore.objects.filter(status=Status.SUCCEEDED).exists())
        with elsewhere(lambda: lock_table(Chore)):
            wait_until(lambda: Chore in loop.intake.aside)
            queue.enqueue([NoopJob()])
            wait_until(lambda: NoopJob.objects.filter(status=Status.SUCCEEDED).exists())


@pytest.mark.postgres
def test_what_a_locked_table_kept_from_being_settled_is_settled_when_it_is_free():
    new_chore("sweep")
    loop = Loop([Chore], Options(lease=LEASE))
    loop.claim()
    wait_until(lambda: loop.crew._ended)
    loop.collect()

    with elsewhere(lambda: lock_table(Chore)), sessions.with_patience(SHORT):
        loop.held.settle()
    assert loop.held.ended

    wait_until(lambda: loop.held.settle() or not loop.held.ended)
    assert Chore.objects.get().status == Status.SUCCEEDED


# A suspect


def listed(name):
    columns = {"slots": 1, "version": "0", "lease_expires_at": Now() + timedelta(minutes=1)}
    Worker.objects.create(name=name, **columns)
    return Reservation(name)


def test_of_many_busy_workers_one_empties_itself_for_a_suspect():
    fleet = [listed(f"worker {number}") for number in range(10)]

    chosen = [each for each in fleet if each.choose([Chore], is_idle=False)]

    assert chosen == fleet[:1]
    assert fleet[0].choose([Chore], is_idle=False) == [Chore]  # and keeps doing so


def test_an_idle_worker_takes_a_suspect_whoever_empties_itself_for_it():
    listed("busy").choose([Chore], is_idle=False)

    assert listed("idle").choose([Chore], is_idle=True) == [Chore]


def test_when_the_suspect_is_gone_another_worker_may_empty_itself():
    first, second = listed("first"), listed("second")
    first.choose([Chore], is_idle=False)

    first.choose([], is_idle=False)

    assert second.choose([Chore], is_idle=False) == [Chore]


def test_a_dead_worker_reserves_nothing():
    listed("dead").choose([Chore], is_idle=False)
    Worker.objects.filter(name="dead").update(lease_expires_at=Now() - timedelta(seconds=1))

    assert listed("living").choose([Chore], is_idle=False) == [Chore]


def test_a_busy_fleet_goes_on_beside_a_suspect():
    new_chore("suspect", interruptions=2)
    loops = [Loop([Chore, NoopJob], Options(slots=1)) for _ in range(3)]
    for loop in loops:
        loop.heartbeat.beat()
        loop.crew.hand_over = lambda run: None  # the job never ends, so the loop stays busy
        queue.enqueue([NoopJob()])
        loop.start(NoopJob, 1)
        loop.look()

    assert [loop.may_claim() for loop in loops] == [False, True, True]


def test_a_suspect_whose_provider_is_paused_holds_up_nobody(chore):
    open_shop(paused=True)
    order(interruptions=2)
    worker = Loop([Order, Chore], Options())
    worker.look()

    assert worker.intake.suspects == []
    assert worker.may_claim()
