import pytest

from jobs.errors import LeaseLost
from jobs.tasks.models import TaskJob
from tests.jobs import processes
from tests.jobs.processes import wait_until
from tests.testapp import tasks

pytestmark = pytest.mark.django_db(transaction=True)
start = processes.start


def test_the_tasks_of_a_killed_worker_are_run_by_another(start):
    results = [tasks.wait.enqueue(number) for number in range(3)]
    killed = start(gate=True)
    wait_until(lambda: TaskJob.objects.processing().count() == 3)

    killed.kill()
    killed.expire(TaskJob)
    start()
    wait_until(lambda: TaskJob.objects.ended().count() == 3)

    for number, result in enumerate(results):
        result.refresh()
        assert result.return_value == number
        assert len(set(result.worker_ids)) == 2
        assert [error.exception_class for error in result.errors] == [LeaseLost]
