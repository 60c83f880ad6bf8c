"""The words that Django has no name for yet: max_attempts, backoff, timeout, unique, schedule."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from jobs.models import Schedule, Status
from jobs.run import Pulse, Run
from jobs.schedules import Daily, declaring, run_now
from jobs.tasks import api, task
from jobs.tasks.api import InvalidTask
from jobs.tasks.models import TaskJob
from jobs.worker.options import Options
from tests.testapp import tasks

pytestmark = pytest.mark.django_db


def test_backoff_chooses_the_wait_and_knows_the_errors_so_far(work):
    tasks.chosen.clear()
    tasks.fail_patiently.enqueue()

    work()

    job = TaskJob.objects.get()
    assert (job.status, job.attempts) == (Status.QUEUED, 1)
    assert timedelta(seconds=59) < job.run_after - job.updated_at <= timedelta(seconds=61)
    assert tasks.chosen == [(ValueError, 1, 1)]


def test_backoff_may_return_a_timedelta(work):
    tasks.fail_slowly.enqueue()

    work()

    job = TaskJob.objects.get()
    assert timedelta(minutes=59) < job.run_after - job.updated_at <= timedelta(minutes=61)


def test_a_task_with_a_list_of_schedules_has_a_hash():
    often = replace(tasks.tidy, schedule=[Daily("06:00"), Daily("18:00")])

    assert len({often, often}) == 1


def test_backoff_can_end_the_attempts(work):
    result = tasks.fail_at_once.enqueue()

    work()

    result.refresh()
    assert (result.status, result.attempts) == ("FAILED", 1)


def test_a_broken_backoff_leaves_the_usual_wait(work):
    result = tasks.fail_somehow.enqueue()

    work()

    result.refresh()
    assert (result.status, len(result.errors)) == ("READY", 1)
    assert result.errors[0].exception_class is ValueError


def test_a_task_has_its_own_time():
    hurried = TaskJob(task_path="tests.testapp.tasks.hurry")
    usual = TaskJob(task_path="tests.testapp.tasks.add")
    unknown = TaskJob(task_path="tests.testapp.tasks.nobody")

    limits = [job.time_limit for job in (hurried, usual, unknown)]

    assert limits == [timedelta(seconds=7), TaskJob.timeout, TaskJob.timeout]


def test_a_run_ends_at_the_time_of_its_task():
    run = Run(TaskJob(task_path="tests.testapp.tasks.hurry"), Pulse(60), claimed_at=0)

    run.start()

    assert run.deadline + run.seconds == pytest.approx(7, abs=1)


def test_a_worker_that_stops_waits_for_the_longest_task(monkeypatch):
    def slow():
        pass

    monkeypatch.setattr("jobs.tasks.declared._known", {"": tasks.hurry, "x": task_of(slow)})

    assert Options().grace_for([TaskJob]) == 7200 + 5


def task_of(function):
    function.__qualname__ = "slow"
    return task(function, timeout=timedelta(hours=2))


def test_the_same_unique_task_is_enqueued_once():
    first = tasks.index.enqueue("kyoto")
    again = tasks.index.enqueue("kyoto")
    other = tasks.index.enqueue("nara")

    assert first.id == again.id != other.id
    assert TaskJob.objects.count() == 2


def test_a_unique_task_can_be_enqueued_again_when_it_has_ended(work):
    first = tasks.index.enqueue("kyoto")
    work()

    assert tasks.index.enqueue("kyoto").id != first.id


@pytest.mark.parametrize(("unique", "is_other"), [(tasks.index, False), (tasks.refresh, True)])
def test_a_task_is_unique_while_it_is_open_or_only_while_it_is_queued(work, unique, is_other):
    first = unique.enqueue("kyoto")
    work.worker.claim(TaskJob)

    assert (unique.enqueue("kyoto").id != first.id) is is_other


def test_the_schedule_of_a_task_is_declared_and_runs(work):
    [declared] = [each for each in declaring.declarations() if each.model is TaskJob]
    declared.check()
    facts = declared.facts()

    schedule = Schedule.objects.create(name=declared.name, **declaring._columns(facts))
    run_now(schedule)
    work()

    assert declared.name == "tests.testapp.tasks.tidy"
    assert (declared.declared.expression, TaskJob.objects.get().return_value) == (
        "0 6 * * *",
        "hall",
    )


def test_the_arguments_of_a_schedule_are_those_of_the_function(monkeypatch):
    monkeypatch.setattr("jobs.tasks.declared._known", {})
    monkeypatch.setattr(tasks, "tidy", tidy := task(tasks.tidy.func, schedule=kitchen()))

    [cron] = TaskJob.schedule
    job = TaskJob.for_schedule(datetime(2026, 1, 1, tzinfo=UTC), **cron.arguments)

    assert (job.task_path, job.kwargs) == (tidy.module_path, {"room": "kitchen"})


def kitchen():
    return Daily("06:00", arguments={"room": "kitchen"})


@pytest.mark.parametrize(
    "words",
    [
        {"max_attempts": 0},
        {"max_attempts": "3"},
        {"max_attempts": 10**9},
        {"backoff": 5},
        {"timeout": 60},
        {"timeout": timedelta(0)},
        {"provider": ""},
        {"unique": "always"},
    ],
)
def test_a_word_with_a_wrong_value_is_refused_where_it_stands(words):
    [(name, value)] = words.items()

    with pytest.raises(InvalidTask, match=re.escape(f"{name}={value!r}")):
        task(tasks.add.func, **words)


def test_an_unknown_word_is_refused():
    with pytest.raises(TypeError, match="retries"):
        task(tasks.add.func, retries=3)


@pytest.mark.skipif(
    api.IS_DJANGOS and __import__("django").VERSION < (6, 1),
    reason="the decorator of Django 6.0 takes no further words",
)
def test_the_decorator_of_django_takes_our_words_too():
    module = "django.tasks" if api.IS_DJANGOS else "django_tasks"
    djangos = __import__(module, fromlist=["task"]).task

    assert djangos(max_attempts=5)(tasks.add.func).max_attempts == 5
