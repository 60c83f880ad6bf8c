"""POST /internal/run-jobs/ works for a while, in the process of the web server."""

import threading
from datetime import timedelta
from functools import partial

import pytest
from django.db.models.functions import Now

from jobs.models import Attempt, Status, Worker
from jobs.worker import stint
from jobs.worker.held import Held
from tests.config.asking import ask, code, opened
from tests.jobs.processes import (
    assert_each_done_once,
    count_begun,
    enqueue_chores,
    statuses,
    wait_until,
)
from tests.jobs.running import begun, end_time
from tests.testapp.models import Chore

__all__ = ["opened"]  # a fixture
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("opened")]


LONG = partial(ask, "?seconds=50")


def threads():
    return {thread for thread in threading.enumerate() if thread.name != "MainThread"}


def test_it_does_what_is_due_and_leaves_nothing_behind():
    ids = enqueue_chores(6)
    before = threads()

    answer = ask()

    assert answer.status_code == 200
    told = answer.json()
    assert (told["claimed"], told["succeeded"], told["failed"]) == (6, 6, 0)
    assert (told["busy"], told["more"], told["next_at"]) == (False, False, None)
    assert told["chain"] is None
    assert_each_done_once(ids)
    wait_until(lambda: threads() <= before)
    assert not Worker.objects.alive().exists()


def test_it_stops_after_as_many_jobs_as_asked_for():
    enqueue_chores(5)

    told = ask("?jobs=2").json()

    assert (told["claimed"], told["succeeded"], told["more"]) == (2, 2, True)
    assert statuses() == {Status.SUCCEEDED: 2, Status.QUEUED: 3}


def test_what_runs_when_the_time_is_up_is_released_without_an_attempt(monkeypatch):
    enqueue_chores(1, script="stop_when_told")

    with begun(monkeypatch, LONG) as (loops, asked):
        wait_until(count_begun)
        end_time(loops[0])

    told = asked.result().json()
    assert (told["claimed"], told["released"], told["more"]) == (1, 1, True)
    [job] = Chore.objects.all()
    assert (job.status, job.attempts, job.locked_by) == (Status.QUEUED, 0, None)
    assert Attempt.objects.get().outcome == "released"


def test_it_tells_when_the_next_job_is_due():
    enqueue_chores(1)
    Chore.objects.update(run_after=Now() + timedelta(hours=1), priority=5)
    later = enqueue_chores(1)
    Chore.objects.filter(id__in=later).update(run_after=Now() + timedelta(hours=2))

    told = ask().json()

    first = Chore.objects.order_by("run_after").first().run_after
    assert (told["claimed"], told["more"]) == (0, False)
    assert told["next_at"].startswith(first.isoformat()[:19])


def test_a_second_request_at_the_same_time_is_told_at_once(monkeypatch):
    enqueue_chores(1, script="stop_when_told")
    with begun(monkeypatch, LONG) as (loops, first):
        wait_until(count_begun)

        second = ask().json()

        assert (second["busy"], second["claimed"]) == (True, 0)
        assert not first.done()
        end_time(loops[0])
    assert first.result().json()["released"] == 1


def test_jobs_that_never_return_do_not_eat_all_threads(monkeypatch):
    enqueue_chores(stint.SLOTS, script="stop_when_told")
    monkeypatch.setattr(Chore, "do_stop_when_told", lambda self, run: ended.wait())
    ended = threading.Event()
    before = threads()

    with begun(monkeypatch, LONG) as (loops, _asked):
        wait_until(lambda: loops and len(loops[0].crew.performing) == stint.SLOTS)
        end_time(loops[0])
    refused = ask()
    ended.set()
    wait_until(lambda: "perform" not in {each.name for each in threads() - before})

    assert (refused.status_code, code(refused)) == (503, "unavailable")
    assert "4 jobs of earlier requests have not returned" in refused.json()["error"]["text"]
    assert ask().json()["succeeded"] == stint.SLOTS


def test_a_database_that_does_not_answer_is_not_waited_for(monkeypatch):
    answered = threading.Event()
    before = threads()
    monkeypatch.setattr(Held, "settle", lambda held: answered.wait())

    answer = ask("?seconds=1")

    assert (answer.status_code, code(answer)) == (503, "unavailable")
    assert "The database did not answer" in answer.json()["error"]["text"]
    answered.set()
    wait_until(lambda: "stint" not in {each.name for each in threads() - before})
