"""What a worker asks about, and when: after a notice, at a poll, and after a slow look."""

import math

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs import queue
from jobs.models import Status, job_models
from jobs.queue import front, wakeup
from jobs.worker import lookout
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.jobs.conftest import expire_lease, new_chore
from tests.testapp.models import Chore, Hooked, NoopJob, Order

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def idle(monkeypatch):
    """A worker that has looked, found nothing, and looks again only when it is told to."""
    monkeypatch.setattr(wakeup, "PAUSE", 0.0)

    def make(*models):
        worker = Loop(models or job_models(), Options(poll=3600))
        worker.lookout.schedules_at = math.inf
        worker.look()
        assert worker.intake.hungry == set()
        return worker

    return make


@pytest.fixture
def slow(monkeypatch):
    """Every look at all counts as slow, and is not repeated before the test ends."""
    monkeypatch.setattr(front, "CHEAP", 0.0)
    monkeypatch.setattr(front, "EACH", 0.0)
    monkeypatch.setattr(front, "SHARE", math.inf)
    monkeypatch.setattr(front, "LONGEST", math.inf)


def statements_of(act):
    with CaptureQueriesContext(connection) as sent:
        act()
    return [query["sql"] for query in sent]


def turn(worker):
    worker.look()
    worker.claim()


def poll(worker):
    worker.lookout.hurry(0)
    worker.look()


def tables_in(statements):
    tables = {model._meta.db_table for model in job_models()}
    return {table for table in tables for sql in statements if f'"{table}"' in sql}


def test_a_notice_of_one_kind_asks_about_that_kind_only(idle):
    worker = idle()
    worker.hear(["testapp.NoopJob"])

    assert tables_in(statements_of(lambda: turn(worker))) == {"noop_jobs"}


def test_a_notice_costs_the_same_however_many_models_there_are(idle, monkeypatch):
    monkeypatch.setattr(front, "CHEAP", math.inf)  # this machine may be busy

    def cost(worker):
        worker.hear(["testapp.NoopJob"])
        return len(statements_of(lambda: turn(worker)))

    assert cost(idle(*job_models())) == cost(idle(NoopJob))


def test_what_is_announced_is_claimed_before_a_look_that_is_due(idle):
    worker = idle(Chore, NoopJob)
    new_chore("sweep")
    worker.lookout.look_at_all_soon()
    worker.hear(["testapp.Chore"])

    sent = statements_of(worker.work)

    first = next(sql for sql in sent if '"chores"' in sql)
    assert 'UPDATE "chores"' in first
    assert any("string_agg" in sql or "group_concat" in sql for sql in sent)  # the look


def test_a_notice_brings_no_kind_back_that_was_put_aside(idle):
    worker = idle(Chore, NoopJob)
    new_chore("sweep")
    worker.intake.put_aside(Chore)
    worker.hear(["testapp.Chore"])

    assert tables_in(statements_of(lambda: turn(worker))) == set()
    assert Chore.objects.get().status == Status.QUEUED


@pytest.mark.parametrize("kinds", [[], ["elsewhere.Unknown"], ["testapp.Chore", "rubbish"]])
def test_a_notice_of_no_kind_or_of_a_stranger_is_about_all(idle, kinds):
    worker = idle()
    worker.hear(kinds)

    asked = tables_in(statements_of(lambda: turn(worker)))

    assert asked == {model._meta.db_table for model in job_models()}


def test_a_notice_about_many_kinds_claims_only_where_there_is_something(idle, monkeypatch):
    monkeypatch.setattr(lookout, "FEW", 2)
    worker = idle()
    new_chore("sweep")
    worker.hear([])

    sent = statements_of(lambda: turn(worker))

    assert {sql for sql in sent if "SKIP LOCKED" in sql} == {
        sql for sql in sent if "SKIP LOCKED" in sql and '"chores"' in sql
    }
    assert Chore.objects.get().status == Status.PROCESSING


def test_a_kind_that_this_worker_does_not_run_wakes_it_for_nothing(idle):
    worker = idle(Chore)
    worker.hear(["testapp.NoopJob"])

    assert statements_of(lambda: turn(worker)) == []


@pytest.mark.postgres
def test_after_a_slow_look_a_poll_asks_about_a_few_models_in_turn(slow, idle, monkeypatch):
    monkeypatch.setattr(lookout, "FEW", 2)
    worker = idle(Chore, NoopJob, Hooked, Order)

    asked = [tables_in(statements_of(lambda: poll(worker))) for _ in range(2)]

    assert [len(tables) for tables in asked] == [2, 2]
    assert set.union(*asked) == {"chores", "noop_jobs", "hooked_jobs", "orders"}


@pytest.mark.postgres
def test_after_a_slow_look_new_jobs_are_found_without_a_notice(slow, idle):
    worker = idle(Chore, NoopJob)
    new_chore("sweep")

    poll(worker)

    assert worker.intake.hungry == {Chore}


@pytest.mark.postgres
def test_jobs_that_could_not_be_claimed_stay_known_after_a_slow_look(slow, idle):
    worker = idle(Chore, NoopJob)
    new_chore("sweep")
    worker.lookout.look_at_all_soon()
    worker.look()
    worker.intake.hungry.clear()  # as after a claim for which a provider has no room

    poll(worker)

    assert worker.intake.hungry == {Chore}


@pytest.mark.postgres
def test_expired_leases_wait_for_the_pause_after_a_slow_look(slow, idle, worker):
    new_chore("sweep")
    job = worker.claim_one()
    sweeper = idle(Chore)
    expire_lease(job)
    sweeper.lookout.mercy = -math.inf

    poll(sweeper)
    assert Chore.objects.get().status == Status.PROCESSING

    sweeper.lookout.look_at_all_soon()
    sweeper.look()
    assert Chore.objects.get().status == Status.QUEUED


@pytest.mark.postgres
def test_a_worker_that_drains_leaves_nothing_behind_after_a_slow_look(slow):
    queue.enqueue(NoopJob(priority=number % 3) for number in range(50))

    assert Loop([Chore, NoopJob], Options()).run(drain=True) == 0

    assert NoopJob.objects.filter(status=Status.SUCCEEDED).count() == 50
