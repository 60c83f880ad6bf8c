import subprocess
import sys
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.db import transaction
from django.utils import timezone

from jobs.tasks import task
from jobs.tasks.api import (
    InvalidTask,
    TaskResultDoesNotExist,
    TaskResultStatus,
    signals,
    task_backends,
)
from jobs.tasks.models import TaskJob
from tests.jobs.tasks.conftest import in_a_thread
from tests.testapp import tasks

pytestmark = pytest.mark.django_db


def test_enqueueing_is_one_query_and_says_what_the_row_says(django_assert_num_queries):
    with django_assert_num_queries(1):
        result = tasks.add.enqueue(1, right=(2, b"3"))

    assert (result.status, result.args, result.kwargs) == ("READY", [1], {"right": [2, "3"]})
    assert result == tasks.add.get_result(result.id)
    assert result.enqueued_at == TaskJob.objects.get().created_at


def test_what_a_caller_asks_for_is_in_the_row(settings):
    settings.TASKS = {"default": {"BACKEND": "jobs.tasks.Backend", "QUEUES": []}}
    later = timezone.now() + timedelta(hours=1)

    asked = tasks.add.using(priority=7, queue_name="mail", run_after=later)
    result = asked.enqueue(1)

    job = TaskJob.objects.get()
    assert (job.priority, job.queue_name, job.run_after) == (-7, "mail", later)
    found = tasks.add.get_result(result.id).task
    assert (found.priority, found.queue_name, found.run_after) == (7, "mail", later)


@pytest.mark.parametrize("away", [timedelta(hours=-1), timedelta(hours=1), None])
def test_the_moment_that_was_asked_for_comes_back(away):
    moment = away and timezone.now() + away

    result = tasks.add.using(run_after=moment).enqueue(1)

    assert tasks.add.get_result(result.id).task.run_after == moment


def test_higher_priorities_run_first(work):
    for priority in (0, 100, -100, 5):
        tasks.add.using(priority=priority).enqueue(priority)

    claimed = [work(slots=1)[0].args[0] for _ in range(4)]

    assert claimed == [100, 5, 0, -100]


def test_a_task_that_a_person_let_go_first_can_still_be_looked_at():
    result = tasks.add.enqueue(1)
    TaskJob.objects.update(priority=-32_768)

    assert tasks.add.get_result(result.id).task.priority == 100


def test_a_task_is_gone_with_the_transaction_that_asked_for_it():
    with transaction.atomic():
        tasks.add.enqueue(1)
        transaction.set_rollback(True)

    assert not TaskJob.objects.exists()


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (float("nan"), r"tests.testapp.tasks.add: args\[0\]\.spots\[1\] is nan"),
        ("a\x00b", r"args\[0\]\.spots\[1\] contains NUL"),
        ("\ud83d", r"args\[0\]\.spots\[1\] contains half a character"),
        ({1: 2}, r"args\[0\]\.spots\[1\] has the key 1, which is no text"),
        (2**5000, r"args\[0\]\.spots\[1\] is too large a number"),
    ],
)
def test_arguments_that_can_t_be_stored_are_refused_with_their_path(argument, said):
    with pytest.raises(ValueError, match=said):
        tasks.add.enqueue({"spots": ["fine", argument]})

    assert not TaskJob.objects.exists()


def test_a_model_is_no_argument():
    with pytest.raises(TypeError, match="Unsupported type"):
        tasks.add.enqueue(TaskJob())


@pytest.mark.parametrize("id", ["123", "", "0" * 32, "a\x00b"])
def test_there_is_no_result_of_an_unknown_id(id):
    with pytest.raises(TaskResultDoesNotExist):
        task_backends["default"].get_result(id)


def not_declared():
    pass


def test_a_task_that_a_worker_could_not_find_is_refused():
    hidden = task(not_declared)

    with pytest.raises(InvalidTask, match=r"declares no task .*test_enqueue.not_declared"):
        hidden.enqueue()


def test_enqueueing_is_told_once_with_the_result():
    told = []

    def hear(sender, task_result, **_):
        told.append((sender, task_result))

    signals.task_enqueued.connect(hear)
    try:
        result = tasks.add.enqueue(1)
    finally:
        signals.task_enqueued.disconnect(hear)

    assert told == [(type(task_backends["default"]), result)]


@pytest.mark.django_db(transaction=True)
def test_coroutines_enqueue_and_look_too():
    result = in_a_thread(async_to_sync(tasks.add.aenqueue), 1)

    found = in_a_thread(async_to_sync(tasks.add.aget_result), result.id)

    assert (found, found.status) == (result, TaskResultStatus.READY)


def test_a_wrong_setting_is_found_at_enqueue(settings):
    settings.TASKS = {"default": {"BACKEND": "jobs.tasks.Backend", "QUEUES": ["mail"]}}
    mailed = tasks.add.using(queue_name="mail")
    settings.TASKS = {"default": {"BACKEND": "jobs.tasks.Backend"}}

    with pytest.raises(InvalidTask, match="Queue 'mail' is not valid"):
        mailed.enqueue(1)


def test_tasks_can_be_declared_before_there_are_models():
    code = """
from django.conf import settings
settings.configure(TASKS={"default": {"BACKEND": "jobs.tasks.Backend"}}, USE_TZ=True)
from jobs.tasks import task
def hello(): pass
print(task(hello, max_attempts=2).max_attempts)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert done.stdout == "2\n", done.stderr
