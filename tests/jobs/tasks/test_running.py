import pytest

from jobs import queue
from jobs.errors import Cancel, TaskMissing
from jobs.models import Status
from jobs.tasks.api import TaskResultStatus
from jobs.tasks.models import TaskJob
from tests.jobs.tasks.conftest import in_a_thread
from tests.testapp import tasks

pytestmark = pytest.mark.django_db


def test_a_task_runs_and_its_value_comes_back(work):
    result = tasks.add.enqueue(1, right=2)

    work()

    result.refresh()
    assert (result.status, result.return_value) == (TaskResultStatus.SUCCESSFUL, 3)
    assert result.worker_ids == ["w"]
    assert result.enqueued_at <= result.started_at <= result.finished_at
    assert result.last_attempted_at == result.started_at


@pytest.mark.django_db(transaction=True)
def test_a_coroutine_runs(work):
    result = tasks.add_slowly.enqueue(1, right=2)

    in_a_thread(work)

    result.refresh()
    assert result.return_value == 3


def test_a_task_sees_its_own_result(work):
    result = tasks.look_around.enqueue()

    work()

    result.refresh()
    seen = {"id": result.id, "attempt": 1, "status": "RUNNING"}
    assert result.return_value == seen


@pytest.mark.parametrize("value", [0, "", [], {}, False, None, [1, {"a": None}]])
def test_what_looks_empty_comes_back_as_it_was(work, value):
    result = tasks.tidy.enqueue(room=value)

    work()

    result.refresh()
    assert result.return_value == value


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("nan", "return_value is nan, which is no JSON"),
        ("nul", "return_value[0] contains NUL"),
        ("half", "return_value contains half a character"),
        ("function", "Unsupported type"),
    ],
)
def test_a_value_that_can_t_be_stored_is_a_failure_of_the_task(work, what, said):
    result = tasks.give.enqueue(what)

    work()

    result.refresh()
    assert result.status == TaskResultStatus.FAILED
    assert said in result.errors[0].traceback


def test_a_failing_task_says_why_and_is_not_repeated(work):
    result = tasks.fail.enqueue("The <b>disk</b> is full.")

    work()

    result.refresh()
    [error] = result.errors
    assert error.exception_class is ValueError
    assert error.traceback.endswith("ValueError: The <b>disk</b> is full.\n")
    with pytest.raises(ValueError, match="Task failed"):
        _ = result.return_value


def test_leaving_the_interpreter_fails_only_the_task(work):
    result = tasks.leave.enqueue()

    work()

    result.refresh()
    assert result.errors[0].exception_class is SystemExit


def test_every_attempt_keeps_its_error_and_its_worker(work):
    result = work.until_it_ends(tasks.fail_thrice.enqueue())

    assert result.status == TaskResultStatus.FAILED
    assert [error.exception_class for error in result.errors] == [ValueError] * 3
    assert (result.worker_ids, result.attempts) == (["w"] * 3, 3)
    assert result.started_at < result.last_attempted_at


def test_between_two_attempts_a_task_is_ready(work):
    result = tasks.fail_thrice.enqueue()

    work()

    result.refresh()
    assert (result.status, len(result.errors)) == (TaskResultStatus.READY, 1)


def test_a_canceled_task_failed_with_an_error_of_ours():
    result = tasks.add.enqueue(1)

    queue.cancel(TaskJob.objects.all(), "Not today.")

    result.refresh()
    assert result.status == TaskResultStatus.FAILED
    [error] = result.errors
    assert (error.exception_class, error.traceback) == (Cancel, "Not today.")


def test_a_task_that_was_canceled_while_it_ran_tells_it_once(work):
    result = tasks.add.enqueue(1)
    work.worker.claim(TaskJob)

    queue.cancel(TaskJob.objects.all(), "Not today.")

    result.refresh()
    assert [error.exception_class for error in result.errors] == [Cancel]


def test_a_requeued_task_has_no_old_value(work):
    result = tasks.add.enqueue(1, right=2)
    work()

    queue.requeue(TaskJob.objects.all())
    TaskJob.objects.update(kwargs={"right": 5})
    result.refresh()
    assert result.status == TaskResultStatus.READY
    work()

    result.refresh()
    assert (result.return_value, result.attempts) == (6, 2)
    assert TaskJob.objects.get().return_value == 6


@pytest.mark.parametrize(
    "path",
    [
        "subprocess.check_output",
        "os.system",
        "tests.testapp.tasks.in_a_minute",
        "tests.testapp.tasks.nobody",
        "tests.testapp.never_imported.task",
        "tests.testapp.models.Chore.perform",
        "add",
        "",
        ".",
    ],
)
def test_a_row_that_names_no_declared_task_fails_at_once(work, path):
    job = TaskJob.objects.create(task_path=path, args=["true"], max_attempts=3)

    work()

    job.refresh_from_db()
    assert (job.status, job.error_kind) == (Status.FAILED, TaskMissing.__name__)
    assert repr(path) in job.last_error
    assert job.attempts == 1


def test_a_row_of_plain_sql_is_a_task(work):
    TaskJob.objects.bulk_create([TaskJob(task_path="tests.testapp.tasks.tidy")])

    work()

    assert TaskJob.objects.get().return_value == "hall"
