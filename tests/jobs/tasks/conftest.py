from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from jobs.run import Pulse, Run
from jobs.tasks.models import TaskJob
from jobs.worker.crew import perform
from tests.jobs.conftest import SimulatedWorker, make_due


def in_a_thread(act, *arguments):
    """Act as a worker does, where no event loop runs. Browser tests keep one in the main thread."""

    def act_and_close():
        try:
            return act(*arguments)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(act_and_close).result()


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
