"""Schedules and real workers: a declared job runs by itself, once."""

from datetime import timedelta

import pytest
from django.apps import apps
from django.db.models.functions import Now

from jobs import schedules
from jobs.models import Schedule, Status
from jobs.schedules import declaring, zones
from jobs.schedules.looking import Looker
from tests.jobs.processes import start
from tests.testapp.models import Effect, WeeklyReport

__all__ = ["start"]  # fixtures
pytestmark = pytest.mark.django_db(transaction=True)

WEEK = timedelta(days=7)


@pytest.fixture
def weekly():
    """The schedule that WeeklyReport declares, as if it had not been looked at for a week."""
    declaring.declare(sender=apps.get_app_config("jobs"), using="default")
    weekly = Schedule.objects.get(name="testapp.WeeklyReport")
    schedules.change(weekly, grace=2 * WEEK)  # today may be a Sunday
    Schedule.objects.exclude(pk=weekly.pk).delete()
    Schedule.objects.update(last_scheduled_for=Now() - WEEK)
    return weekly


def test_a_declared_job_runs_by_itself_and_once(start, weekly):
    workers = [start("--drain") for _ in range(2)]
    assert [worker.exit_code() for worker in workers] == [0, 0]

    report = WeeklyReport.objects.get()
    assert report.status == Status.SUCCEEDED
    monday = report.scheduled_for.astimezone(zones.load("Asia/Tokyo"))
    assert (monday.weekday(), monday.hour) == (0, 6)
    assert [effect.result for effect in Effect.objects.all()] == [f"{report.week}: by itself"]

    assert Looker().look() == 0


def test_a_worker_enqueues_runs_that_other_workers_perform(start, weekly):
    assert start("--drain", "--jobs=testapp.Chore").exit_code() == 0
    assert WeeklyReport.objects.get().status == Status.QUEUED

    assert start("--drain", "--jobs=testapp.WeeklyReport").exit_code() == 0
    assert WeeklyReport.objects.get().status == Status.SUCCEEDED
