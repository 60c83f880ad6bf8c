"""An operator asks a real worker process to stop, from the admin."""

import pytest
from django.urls import reverse

from jobs.models import Worker
from tests.jobs import processes
from tests.jobs.processes import count_begun, enqueue_chores, statuses, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
start = processes.start


def test_it_finishes_what_it_runs_claims_nothing_more_and_ends(start, admin_client):
    worker = start(slots=2, gate=True)
    enqueue_chores(2, script="sign")
    wait_until(lambda: worker.is_listed and count_begun() == 2)
    name = Worker.objects.get().name

    admin_client.post(
        reverse("admin:jobs_worker_changelist"), {"action": "drain", "_selected_action": name}
    )
    wait_until(lambda: "has asked this worker to stop" in worker.log)
    enqueue_chores(1)
    worker.open_gate()

    assert worker.exit_code() == 0
    assert statuses() == {"succeeded": 2, "queued": 1}
    assert not Worker.objects.exists()
