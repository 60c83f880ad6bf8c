"""The second session of a worker with many quick jobs: it settles while the main thread claims."""

import math
import threading

import pytest
from django.db import OperationalError, connection

from jobs import queue
from jobs.db import sessions
from jobs.models import Attempt, Status
from jobs.worker import clerk as clerk_module
from jobs.worker import loop
from jobs.worker.clerk import Clerk
from jobs.worker.held import Held
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.jobs.processes import wait_until
from tests.testapp.models import NoopJob, Order

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
    """The sessions that settle; `loop.MANY` is so small that most turns are hurried."""
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
    # A few at a time, and hardly ever a look: so most turns are hurried, however slow they are.
    worker = Loop([NoopJob], Options(slots=4, batch=4, poll=60))
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


def test_after_a_fault_the_worker_does_without_it_for_a_while(settled_by, first_time, monkeypatch):
    monkeypatch.setattr(clerk_module, "PAUSE", 3600)

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

    [settled_in] = done
    assert settled_in != session()


def test_an_error_is_raised_where_the_block_ends(clerk):
    with pytest.raises(ZeroDivisionError), clerk.doing(lambda: 1 / 0):
        pass

    assert not clerk.is_ready


def test_the_error_of_the_block_comes_first(clerk):
    with pytest.raises(KeyError), clerk.doing(lambda: 1 / 0):
        raise KeyError


def test_it_rests_when_it_was_not_needed_for_a_while(clerk, monkeypatch):
    monkeypatch.setattr(clerk_module, "IDLE", math.inf)
    with clerk.doing(session):
        pass

    clerk.rest_if_idle()
    assert not no_clerk()

    monkeypatch.setattr(clerk_module, "IDLE", 0)
    clerk.rest_if_idle()
    wait_until(no_clerk)


def test_it_is_not_tried_again_soon_where_no_thread_can_be_started(clerk, monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)

    with pytest.raises(RuntimeError), clerk.doing(session):
        pass

    assert not clerk.is_ready


@pytest.fixture
def hurried(monkeypatch):
    """A worker that would claim beside the clerk now."""
    monkeypatch.setattr(loop, "MANY", 0)
    worker = Loop([NoopJob, Order], Options())
    worker.lookout.look_at = math.inf
    assert worker.is_hurried()
    return worker


def test_a_worker_does_not_look_before_the_clerk_has_committed(hurried):
    hurried.lookout.look_at = -math.inf

    assert not hurried.is_hurried()


def test_an_announcement_is_heard_by_a_hurried_worker(hurried):
    hurried.hear([NoopJob._meta.label])

    wait_until(lambda: not hurried.is_hurried())


def test_a_paid_kind_is_asked_again_when_the_clerk_has_freed_its_room(hurried, monkeypatch):
    monkeypatch.setattr(hurried, "start", lambda model, wanted: 0)
    hurried.clerk.is_at_work = True

    hurried.fill(NoopJob, wanted=1)
    hurried.fill(Order, wanted=1)

    assert hurried.intake.hungry == {Order}


def test_what_the_database_answers_the_clerk_keeps_the_watchdog_calm(hurried, monkeypatch):
    monkeypatch.setattr(Held, "settle", lambda held: Attempt.objects.count())

    with hurried.watchdog.watch(loop.TURN):
        hurried.watchdog.awake = 9.0
        with hurried.clerk.doing(hurried.settle_beside):
            pass
        assert hurried.watchdog.busy_since[loop.TURN] == 9.0

    hurried.clerk.rest()


def test_it_comes_back_after_a_rest(clerk):
    seen = []
    for _ in range(2):
        with clerk.doing(lambda: seen.append(session())):
            pass
        clerk.rest()
        wait_until(no_clerk)

    assert len(set(seen)) == 2
