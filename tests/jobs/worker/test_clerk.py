"""The second session of a worker with many quick jobs: it settles while the main thread claims."""

import threading

import pytest
from django.db import OperationalError, connection

from jobs import queue
from jobs.db import sessions
from jobs.models import Attempt, Status
from jobs.worker import loop
from jobs.worker.clerk import Clerk
from jobs.worker.held import Held
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.jobs.processes import wait_until
from tests.testapp.models import NoopJob

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]
JOBS = 300


@pytest.fixture
def clerk():
    clerk = Clerk(sessions.USUAL)
    yield clerk
    clerk.rest()
    wait_until(no_clerk)


def no_clerk():
    return not any(thread.name == "clerk" for thread in threading.enumerate())


def session():
    connection.ensure_connection()
    return connection.connection.info.backend_pid


@pytest.fixture
def settled_by(monkeypatch):
    """The sessions that settle; `loop.MANY` is so small that the worker is always hurried."""
    sessions_of_settlements = []
    settle = Held.settle

    def note(held):
        if held.ended:
            sessions_of_settlements.append(session())
        settle(held)

    monkeypatch.setattr(Held, "settle", note)
    monkeypatch.setattr(loop, "MANY", 1)
    return sessions_of_settlements


def drain():
    queue.enqueue(NoopJob() for _ in range(JOBS))
    worker = Loop([NoopJob], Options(slots=4))
    assert worker.run(drain=True) == 0
    return worker


def all_succeeded_once():
    jobs = NoopJob.objects.filter(status=Status.SUCCEEDED).count()
    return (jobs, Attempt.objects.count()) == (JOBS, JOBS)


def test_a_hurried_worker_settles_in_another_session_than_it_claims(settled_by):
    drain()

    assert set(settled_by) - {session()}
    assert all_succeeded_once()


def test_no_session_is_left_when_the_worker_ends(settled_by):
    drain()

    wait_until(no_clerk)


@pytest.fixture
def first_time(monkeypatch):
    """Something that happens before the clerk settles for the first time; and how often it did."""
    settle, times = Held.settle, []

    def happen(fault):
        def settle_after(held):
            if threading.current_thread().name == "clerk":
                times.append(session())
                if len(times) == 1:
                    fault()
            settle(held)

        monkeypatch.setattr(Held, "settle", settle_after)
        return times

    return happen


def test_a_lost_session_costs_no_job(settled_by, first_time):
    lost = first_time(lambda: sessions.elsewhere(f"SELECT pg_terminate_backend({session()}, 9000)"))

    drain()

    assert lost
    assert all_succeeded_once()


def test_after_a_fault_the_worker_does_without_it_for_a_while(settled_by, first_time):
    def refuse():
        raise OperationalError("FATAL: sorry, too many clients already")

    asked = first_time(refuse)

    worker = drain()

    assert len(asked) == 1
    assert not worker.clerk.is_ready
    assert all_succeeded_once()


def test_the_block_waits_for_what_is_done_beside_it(clerk):
    begun, done = threading.Event(), []

    def settle():
        begun.set()
        done.append(session())

    with clerk.doing(settle):
        begun.wait(60)

    assert done != [session()]


def test_an_error_is_raised_where_the_block_ends(clerk):
    with pytest.raises(ZeroDivisionError), clerk.doing(lambda: 1 / 0):
        pass

    assert not clerk.is_ready


def test_the_error_of_the_block_comes_first(clerk):
    with pytest.raises(KeyError), clerk.doing(lambda: 1 / 0):
        raise KeyError


def test_it_comes_back_after_a_rest(clerk):
    seen = []
    for _ in range(2):
        with clerk.doing(lambda: seen.append(session())):
            pass
        clerk.rest()
        wait_until(no_clerk)

    assert len(set(seen)) == 2
