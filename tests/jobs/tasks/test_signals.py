import sys
from contextlib import contextmanager

import pytest

from jobs import queue
from jobs.tasks.api import signals
from jobs.tasks.models import TaskJob
from tests.jobs.conftest import expire_lease
from tests.testapp import tasks

pytestmark = pytest.mark.django_db


@contextmanager
def hearing(signal, act=lambda result: None):
    """What was told: status, errors and the exception that was being handled."""
    told = []

    def hear(sender, task_result, **_):
        error = sys.exc_info()[0]
        told.append((task_result.status, len(task_result.errors), error))
        act(task_result)

    signal.connect(hear)
    try:
        yield told
    finally:
        signal.disconnect(hear)


def test_the_start_of_every_attempt_is_told(work):
    with hearing(signals.task_started) as told:
        work.until_it_ends(tasks.fail_thrice.enqueue())

    assert told == [("RUNNING", number, None) for number in range(3)]


def test_success_is_told_once_with_its_value(work):
    values = []
    tasks.add.enqueue(1, right=2)

    with hearing(signals.task_finished, lambda result: values.append(result.return_value)) as told:
        work()

    assert (told, values) == ([("SUCCESSFUL", 0, None)], [3])


def test_the_last_failure_alone_is_told_with_its_exception(work):
    with hearing(signals.task_finished) as told:
        work.until_it_ends(tasks.fail_thrice.enqueue())

    assert told == [("FAILED", 3, ValueError)]


def test_a_cancel_is_told(django_capture_on_commit_callbacks):
    tasks.add.enqueue(1)

    with hearing(signals.task_finished) as told, django_capture_on_commit_callbacks(execute=True):
        queue.cancel(TaskJob.objects.all())

    assert [(status, errors) for status, errors, _ in told] == [("FAILED", 1)]


def test_a_task_that_kills_its_workers_is_told_by_who_finds_it(
    work, django_capture_on_commit_callbacks
):
    tasks.add.enqueue(1)
    TaskJob.objects.update(interruptions=2)
    [job] = work.worker.claim(TaskJob, suspect=True)
    expire_lease(job)

    with hearing(signals.task_finished) as told, django_capture_on_commit_callbacks(execute=True):
        queue.rescue(TaskJob)

    assert [status for status, _, _ in told] == ["FAILED"]


def test_a_listener_that_raises_changes_nothing(work):
    def refuse(result):
        raise RuntimeError("I do not want to know.")

    result = tasks.add.enqueue(1, right=2)

    with hearing(signals.task_finished, refuse):
        work()

    result.refresh()
    assert result.return_value == 3
