"""Which kinds of job have figures on the dashboard: not those that would only hide the others."""

from datetime import timedelta

import pytest
from django.urls import reverse

from jobs import queue
from jobs.archive.models import Retention
from jobs.errors import PermanentError
from jobs.models import Pause, Status
from tests.jobs.conftest import SimulatedWorker
from tests.jobs.console.pages import attempt, in_state

pytestmark = pytest.mark.django_db


@pytest.fixture
def sections(admin_client, alive):
    """The keys of the dashboard's sections, in their order."""

    def look():
        page = admin_client.get(reverse("admin:index"))
        return [each["key"] for each in page.context["models"]]

    return look


def end_retention(error=None):
    queue.enqueue([Retention()])
    worker = SimulatedWorker("w")
    job = worker.claim_one(Retention)
    worker.fail(job, error) if error else worker.succeed(job)


def test_a_kind_that_does_nothing_is_left_out(sections):
    assert sections() == []

    in_state(Status.SUCCEEDED, "a")

    assert sections() == ["testapp-chore"]


def test_a_kind_whose_jobs_are_gone_is_shown_for_a_day(sections):
    attempt(timedelta(hours=23))

    assert sections() == ["testapp-chore"]


def test_a_kind_whose_attempts_are_older_is_left_out(sections):
    attempt(timedelta(hours=25))

    assert sections() == []


def test_housekeeping_is_shown_only_when_it_fails(sections):
    end_retention()
    assert sections() == []

    end_retention(PermanentError("no"))

    assert sections() == ["jobs-retention"]


def test_what_is_paused_is_shown(sections):
    Pause.objects.create(kind="jobs.Retention")

    assert sections() == ["jobs-retention"]


def test_what_the_queue_does_for_itself_comes_last(sections):
    end_retention(PermanentError("no"))
    in_state(Status.SUCCEEDED, "a")

    assert sections() == ["testapp-chore", "jobs-retention"]
