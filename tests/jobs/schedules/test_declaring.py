"""Declarations reach the table after `migrate`, and never undo what an operator changed."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.apps import apps
from django.db import connection
from django.db.models.functions import Now

from jobs import schedules
from jobs.models import Schedule
from jobs.schedules import Cron, Daily, Every, Weekly, declaring
from tests.testapp.models import NoopJob, WeeklyReport

pytestmark = pytest.mark.django_db(transaction=True)

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def deploy():
    declaring.declare(sender=apps.get_app_config("jobs"), using="default")


def age():
    """Let the schedules stand as if they had last been decided long ago."""
    Schedule.objects.update(last_scheduled_for=LONG_AGO)


def is_of_the_past(schedule):
    return schedule.last_scheduled_for == LONG_AGO


@pytest.fixture
def declared(monkeypatch):
    """Deploy a version of the code in which this is declared, and return its row."""

    def declare(schedule, model=NoopJob):
        monkeypatch.setattr(model, "schedule", schedule)
        deploy()
        return Schedule.objects.filter(kind=model._meta.label).first()

    return declare


def test_a_declaration_becomes_a_row_named_after_its_model(declared, settings):
    settings.TIME_ZONE = "Asia/Tokyo"

    row = declared(Daily("06:00", grace=timedelta(hours=1)))

    assert row.name == row.kind == "testapp.NoopJob"
    assert (row.cron, row.time_zone) == ("0 6 * * *", "Asia/Tokyo")
    assert (row.grace, row.overlap, row.enabled) == (timedelta(hours=1), False, True)
    assert Schedule.objects.filter(pk=row.pk, last_scheduled_for__lte=Now()).exists()
    assert declaring.changed_by_people(row) == []
    assert row in Schedule.objects.active()


def test_a_plain_text_is_a_cron_expression_and_a_list_has_several(declared):
    declared(["0 6 * * *", Cron("0 18 * * *", name="evening", arguments={})])

    found = Schedule.objects.filter(kind="testapp.NoopJob").values_list("name", "cron")
    assert set(found) == {("testapp.NoopJob", "0 6 * * *"), ("evening", "0 18 * * *")}


def test_deploying_again_changes_nothing(declared):
    declared(Daily("06:00"))
    age()
    before = list(Schedule.objects.order_by("pk").values())

    deploy()

    assert list(Schedule.objects.order_by("pk").values()) == before


def test_what_the_code_changes_is_followed_and_fires_nothing_of_the_past(declared):
    declared(Daily("06:00"))
    age()

    row = declared(Daily("07:00", overlap=True))

    assert (row.cron, row.overlap) == ("0 7 * * *", True)
    assert not is_of_the_past(row)


def test_what_does_not_touch_the_times_keeps_the_watermark(declared):
    declared(Daily("06:00"))
    age()

    row = declared(Daily("06:00", overlap=True))

    assert row.overlap
    assert is_of_the_past(row)


def test_what_an_operator_changed_stays_and_the_rest_follows_the_code(declared):
    row = declared(Daily("06:00"))
    schedules.change(row, cron="30 9 * * *")
    age()

    row = declared(Daily("07:00", overlap=True, grace=timedelta(hours=2)))

    assert row.cron == "30 9 * * *"
    assert (row.overlap, row.grace) == (True, timedelta(hours=2))
    assert declaring.changed_by_people(row) == ["cron"]
    assert is_of_the_past(row)  # it was not retimed


def test_one_that_was_switched_off_stays_off(declared):
    row = declared(Daily("06:00"))
    schedules.switch(row, on=False)

    assert not declared(Daily("07:00")).enabled


def test_one_that_leaves_the_code_rests_and_keeps_what_was_changed_when_it_returns(declared):
    row = declared(Daily("06:00"))
    schedules.change(row, grace=timedelta(minutes=7))

    row = declared(None)
    assert row.undeclared_at
    assert row not in Schedule.objects.active()

    age()
    row = declared(Daily("06:00"))
    assert row.undeclared_at is None
    assert row.grace == timedelta(minutes=7)
    assert not is_of_the_past(row)


def test_a_row_that_a_person_inserted_runs_and_no_deployment_ends_it(declared):
    columns = {"kind": "testapp.NoopJob", "cron": "0 6 * * *", "time_zone": "UTC"}
    Schedule.objects.create(name="by hand", **columns)

    deploy()

    assert Schedule.objects.active().filter(name="by hand").exists()


def test_a_bad_declaration_leaves_its_row_and_the_others_alone(declared, caplog):
    declared(Daily("06:00"))

    row = declared("0 0 31 2 *")

    assert (row.cron, row.undeclared_at) == ("0 6 * * *", None)
    assert "never comes" in caplog.text
    assert Schedule.objects.filter(kind="testapp.WeeklyReport").exists()


def test_processes_that_deploy_at_once_write_each_schedule_once(declared, monkeypatch):
    monkeypatch.setattr(NoopJob, "schedule", Every(minutes=5))
    together = threading.Barrier(5)
    faults = []

    def deploy_too():
        together.wait()
        try:
            deploy()
        except Exception as error:
            faults.append(error)
        connection.close()

    threads = [threading.Thread(target=deploy_too) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert faults == []
    assert Schedule.objects.filter(name="testapp.NoopJob").count() == 1


def test_a_database_without_the_table_is_left_alone(monkeypatch):
    monkeypatch.setattr(Schedule._meta, "db_table", "no_such_table")

    deploy()


def test_arguments_are_kept_as_they_come_back_from_the_table(declared):
    arguments = {"note": datetime(2026, 5, 4, tzinfo=UTC)}

    row = declared(Weekly("monday", "06:00", arguments=arguments), WeeklyReport)
    assert row.arguments == {"note": "2026-05-04T00:00:00Z"}
    deploy()

    assert declaring.changed_by_people(row) == []
