"""Runs of quick jobs share threads, and none of them waits for a slow one."""

import threading
import time
from itertools import count

import pytest

from jobs.models import Outcome
from jobs.run import Pulse, Run
from jobs.worker import brief
from jobs.worker.crew import Crew
from tests.jobs.processes import wait_until
from tests.testapp.models import NoopJob

PULSE = Pulse(lease=3600)


@pytest.fixture
def crew(request):
    crews = []

    def make(size):
        crews.append(Crew(size, "me", lambda: None))
        return crews[-1]

    yield make
    for each in crews:
        each.dismiss()


@pytest.fixture
def calls_one_only(monkeypatch):
    """Nothing calls a second thread."""
    monkeypatch.setattr(brief, "LOOK_EVERY", 3600)


@pytest.fixture
def interpreter_is_busy(monkeypatch):
    """More threads are called only because no run begins."""
    monkeypatch.setattr(brief, "BUSY", -1)


def run_of(perform):
    PULSE.confirm(NoopJob, time.monotonic() + 3600)
    job = NoopJob()
    job.perform = lambda run: perform()
    return Run(job, PULSE, time.monotonic())


def outcomes(crew, number):
    """How these many runs ended, once all of them have."""
    ended = []
    wait_until(lambda: ended.extend(crew.take_ended()) or len(ended) == number)
    return {end.outcome for _, end in ended}


def test_brief_runs_are_performed_one_at_a_time(crew, calls_one_only):
    crew, at_once = crew(8), set()

    for _ in range(500):
        crew.hand_over_brief(run_of(lambda: at_once.add(len(crew.performing))))

    assert outcomes(crew, 500) == {Outcome.SUCCEEDED}
    assert at_once == {1}


def test_a_slow_one_among_brief_runs_holds_up_no_other(crew, interpreter_is_busy):
    crew, go_on = crew(8), threading.Event()
    crew.hand_over_brief(run_of(lambda: go_on.wait(60)))

    for _ in range(100):
        crew.hand_over_brief(run_of(lambda: None))
    outcomes(crew, 100)  # while it still runs

    assert len(crew.performing) == 1
    go_on.set()
    outcomes(crew, 1)


def test_runs_that_wait_for_something_get_as_many_threads_as_there_are(crew):
    crew, all_there = crew(8), threading.Barrier(8)

    for _ in range(8):
        crew.hand_over_brief(run_of(lambda: all_there.wait(60)))

    assert outcomes(crew, 8) == {Outcome.SUCCEEDED}


def test_another_run_does_not_wait_until_all_brief_ones_are_done(crew):
    crew, done, numbers = crew(1), threading.Event(), count()

    def one_follows():
        next(numbers)
        if not done.is_set():
            crew.hand_over_brief(run_of(one_follows))

    crew.hand_over_brief(run_of(one_follows))
    wait_until(lambda: next(numbers) > 10)
    crew.hand_over(run_of(done.set))

    assert done.wait(60)


def test_brief_runs_go_on_where_as_many_hang_as_there_are_threads(crew):
    crew, go_on = crew(2), threading.Event()
    hanging = [run_of(lambda: go_on.wait(60)) for _ in range(2)]
    for run in hanging:
        crew.hand_over_brief(run)
    wait_until(lambda: crew.performing == set(hanging))
    for run in hanging:
        assert run.end_once()
        crew.give_up(run, crew.hung)

    crew.hand_over_brief(run_of(lambda: None))

    assert outcomes(crew, 1) == {Outcome.SUCCEEDED}
    go_on.set()
    wait_until(lambda: not crew.hung)


def test_one_that_was_released_meanwhile_is_not_performed(crew, calls_one_only):
    crew, go_on, performed = crew(1), threading.Event(), []
    crew.hand_over_brief(run_of(lambda: go_on.wait(60)))
    released = run_of(lambda: performed.append("released"))
    crew.hand_over_brief(released)

    assert released.begin_once()
    crew.hand_over_brief(run_of(lambda: performed.append("other")))
    go_on.set()

    outcomes(crew, 2)
    assert performed == ["other"]


def test_dismissed_threads_end(crew):
    before = set(threading.enumerate())
    crew = crew(4)
    for _ in range(20):
        crew.hand_over_brief(run_of(lambda: time.sleep(0.001)))
    outcomes(crew, 20)

    crew.dismiss()

    wait_until(lambda: not any(thread.is_alive() for thread in set(threading.enumerate()) - before))
