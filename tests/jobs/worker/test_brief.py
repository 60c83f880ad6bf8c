"""Runs of quick jobs share threads, and none of them waits for a slow one."""

import math
import threading
import time
from contextlib import contextmanager
from itertools import count

import pytest

from jobs.models import Outcome
from jobs.run import Pulse, Run
from jobs.worker import brief
from jobs.worker.brief import BriefRuns
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
def busy(monkeypatch):
    """How busy the process is, as the crew sees it."""
    measure = brief.share_of_time

    def be(share):
        monkeypatch.setattr(brief, "share_of_time", lambda seconds: measure(seconds) * 0 + share)

    return be


def count_at_once(crew):
    """How many runs are being performed, seen by one that lets the others go on meanwhile."""
    time.sleep(0.0001)
    return len(crew.performing)


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
        crew.hand_over_brief(run_of(lambda: at_once.add(count_at_once(crew))))

    assert outcomes(crew, 500) == {Outcome.SUCCEEDED}
    assert at_once == {1}


def test_a_slow_one_among_brief_runs_holds_up_no_other(crew, busy, monkeypatch):
    busy(1.0)
    monkeypatch.setattr(brief, "LATE", math.inf)
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


def most_at_once(crew, seconds):
    """How many of 300 runs of this length were performed together, at most."""
    at_once = []
    for _ in range(300):
        crew.hand_over_brief(
            run_of(lambda: time.sleep(seconds) or at_once.append(len(crew.performing)))
        )
    outcomes(crew, 300)
    return max(at_once)


@pytest.mark.parametrize(("share", "is_joined"), [(0.1, True), (1.0, False)])
def test_others_join_only_while_the_process_has_time(crew, busy, monkeypatch, share, is_joined):
    busy(share)
    monkeypatch.setattr(brief, "LATE", math.inf)
    monkeypatch.setattr(BriefRuns, "is_stuck", staticmethod(lambda *runs: False))

    assert (most_at_once(crew(8), 0.001) > 1) == is_joined


def test_others_join_however_busy_the_process_is_when_runs_wait_long(crew, busy, monkeypatch):
    busy(1.0)
    monkeypatch.setattr(brief, "LATE", 0.02)
    monkeypatch.setattr(BriefRuns, "is_stuck", staticmethod(lambda *runs: False))

    assert most_at_once(crew(8), 0.001) > 1


def test_a_thread_that_cannot_be_started_is_not_counted(crew, monkeypatch):
    crew = crew(1)

    with no_more_threads(monkeypatch), pytest.raises(RuntimeError):
        crew.hand_over_brief(run_of(lambda: None))
    crew.hand_over_brief(run_of(lambda: None))

    assert outcomes(crew, 2) == {Outcome.SUCCEEDED}


@contextmanager
def no_more_threads(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        yield


def test_the_threads_that_live_perform_what_no_new_one_can(crew, monkeypatch):
    crew = crew(2)
    crew.hand_over(run_of(lambda: None))
    outcomes(crew, 1)

    with no_more_threads(monkeypatch):
        for _ in range(3):
            crew.hand_over(run_of(lambda: None))
            crew.hand_over_brief(run_of(lambda: None))
        assert outcomes(crew, 6) == {Outcome.SUCCEEDED}


def test_a_run_is_given_up_even_if_no_thread_can_take_its_place(crew, calls_one_only, monkeypatch):
    crew, go_on = crew(1), threading.Event()
    hanging = run_of(lambda: go_on.wait(60))
    crew.hand_over_brief(hanging)
    crew.hand_over_brief(run_of(lambda: None))  # waits
    wait_until(lambda: crew.performing)
    assert hanging.end_once()

    with no_more_threads(monkeypatch):
        crew.give_up(hanging, crew.hung)
    crew.hand_over_brief(run_of(lambda: None))

    assert outcomes(crew, 2) == {Outcome.SUCCEEDED}
    go_on.set()


def test_a_dismissed_crew_begins_nothing_more(crew, calls_one_only):
    crew, go_on, performed = crew(1), threading.Event(), []
    crew.hand_over_brief(run_of(lambda: go_on.wait(60)))
    crew.hand_over_brief(run_of(lambda: performed.append("too late")))
    wait_until(lambda: crew.performing)

    crew.dismiss()
    go_on.set()

    outcomes(crew, 1)
    wait_until(lambda: not crew.brief_takers)
    assert not performed


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
