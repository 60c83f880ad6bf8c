import asyncio

import pytest

from jobs.run import Pulse, Run
from jobs.tasks.models import TaskJob
from jobs.worker.crew import perform
from tests.jobs.conftest import SimulatedWorker, make_due


@pytest.fixture(autouse=True)
def no_loop():
    """No event loop, as in the threads of a worker: a browser keeps one running in this thread."""
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(running)


@pytest.fixture
def work(django_capture_on_commit_callbacks):
    """Claim and perform due tasks, and settle them, as a worker's threads do."""
    return Working(SimulatedWorker("w"), django_capture_on_commit_callbacks)


class Working:
    def __init__(self, worker, committing):
        self.worker = worker
        self.committing = committing

    def __call__(self, slots=10):
        from jobs import queue

        claimed = self.worker.claim(TaskJob, slots)
        ends = [perform(Run(job, Pulse(60), claimed_at=float("inf")), "w") for job in claimed]
        with self.committing(execute=True):
            assert not queue.settle(ends)
        return claimed

    def until_it_ends(self, result):
        """Perform a task as often as its attempts allow."""
        result.refresh()
        while not result.is_finished:
            make_due(TaskJob.objects.get(pk=result.id))
            self()
            result.refresh()
        return result
