"""Workers in the console: an operator asks one to stop."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.db.models.functions import Now
from django.urls import reverse

from jobs.models import Worker

pytestmark = pytest.mark.django_db(transaction=True)


def new_worker(name="host:1:abc"):
    return Worker.objects.create(
        name=name, slots=4, version="1", lease_expires_at=Now() + timedelta(hours=1)
    )


def drain(client, worker):
    url = reverse("admin:jobs_worker_changelist")
    return client.post(url, {"action": "drain", "_selected_action": worker.pk}, follow=True)


def test_an_operator_asks_one_worker_to_stop(operator):
    worker, other = new_worker(), new_worker("host:2:def")

    page = drain(operator, worker)

    worker.refresh_from_db()
    other.refresh_from_db()
    assert (worker.asked_to_stop, other.asked_to_stop) == (True, False)
    assert "Workers asked to stop: 1." in page.text
    assert LogEntry.objects.get().object_id == worker.pk


def test_a_viewer_stops_no_worker(viewer):
    worker = new_worker()

    drain(viewer, worker)

    worker.refresh_from_db()
    assert not worker.asked_to_stop
