"""Expressions, time zones and declarations that can't be: refused with a text that names them."""

from datetime import timedelta

import pytest

from jobs.schedules import Cron, Daily, Every, Hourly, Monthly, Weekly, checks, times
from jobs.schedules.checks import check_schedules
from tests.testapp.models import NoopJob, WeeklyReport


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("0 0 31 2 *", "“0 0 31 2 *” never comes"),
        ("0 0 31 4,6 *", "“0 0 31 4,6 *” never comes"),
        ("0 0 30 2 *", "“0 0 30 2 *” never comes"),
        ("0 0 6 * * 1", "“0 0 6 * * 1” has six fields: seconds are not supported"),
        ("@daily", "“@daily”: write the five fields instead, here “0 0 * * *”"),
        ("@Weekly", "here “0 0 * * 0”"),
        ("@reboot", "“@reboot” does not have five fields"),
        ("", "“” does not have five fields"),
        ("0 25 * * *", "“0 25 * * *” is not a cron expression (Bad hour)"),
        ("0 0 45 2 *", "Bad day-of-month"),
        ("*/0 * * * *", "Bad minute"),
        ("6 Uhr am Montag früh", "Bad hour"),
        ("1" * 5000, "is too long"),
        (f"*/{'9' * 150} * * * x", "Bad day-of-week"),
    ],
)
def test_an_expression_that_is_none_is_named(expression, told):
    with pytest.raises(ValueError, match=r"^“") as refused:
        times.check(expression, "UTC")

    assert told in str(refused.value)


@pytest.mark.parametrize("name", ["Mars/One", "", "../zones", "Europe/", "europe/berlin"])
def test_a_time_zone_that_is_none_is_named(name):
    with pytest.raises(ValueError, match="is not a time zone") as refused:
        times.check("* * * * *", name)

    assert f"“{name}”" in str(refused.value)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Every(minutes=7), "Every(minutes=7)"),
        (lambda: Every(minutes=60), "Every(minutes=60)"),
        (lambda: Hourly(minute=60), "Hourly(minute=60)"),
        (lambda: Daily("6:00"), "'6:00'"),
        (lambda: Daily("24:00"), "'24:00'"),
        (lambda: Weekly("funday", "06:00"), "'funday'"),
        (lambda: Monthly(31, "06:00"), "Monthly(31)"),
    ],
)
def test_a_helper_names_what_it_can_not_use(make, told):
    with pytest.raises(ValueError, match=r"must|write") as refused:
        make()

    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("declared", "expression"),
    [
        (Every(minutes=1), "* * * * *"),
        (Every(minutes=15), "*/15 * * * *"),
        (Hourly(minute=5), "5 * * * *"),
        (Daily("03:30"), "30 3 * * *"),
        (Weekly("Monday", "06:00"), "0 6 * * 1"),
        (Weekly("sunday", "06:00"), "0 6 * * 0"),
        (Monthly(1, "00:00"), "0 0 1 * *"),
        (Monthly("last", "23:59"), "59 23 L * *"),
    ],
)
def test_a_helper_writes_the_expression(declared, expression):
    times.check(declared.expression, "UTC")

    assert declared.expression == expression


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ("0 0 31 2 *", "“0 0 31 2 *” never comes"),
        (Cron("* * * * *", time_zone="Mars/One"), "“Mars/One”"),
        (Cron("* * * * *", grace=timedelta(0)), "grace"),
        (Cron("* * * * *", arguments={"colour": "red"}), "colour: testapp.NoopJob has no such"),
        (Cron("* * * * *", arguments={"status": "failed"}), "status: the queue sets"),
        (Cron("* * * * *", name="\n"), "'\\n'"),
        (Cron(7), "7"),  # type: ignore[arg-type]
        (7, "7 is no schedule"),
    ],
)
def test_a_bad_declaration_is_reported_by_the_check(monkeypatch, declared, told):
    monkeypatch.setattr(NoopJob, "schedule", declared)

    [error] = check_schedules()

    assert error.id == "jobs.E002"
    assert "testapp.NoopJob" in error.msg
    assert told in error.msg


def test_arguments_that_are_no_json_are_reported(monkeypatch):
    declared = Cron("* * * * *", time_zone="UTC", arguments={"week": object(), "note": ""})
    monkeypatch.setattr(WeeklyReport, "schedule", declared)
    monkeypatch.setattr(WeeklyReport, "for_schedule", classmethod(lambda cls, at, **_: cls()))

    [error] = check_schedules()

    assert "JSON" in error.msg


def test_arguments_must_fit_the_jobs_own_way_of_making_a_run(monkeypatch):
    monkeypatch.setattr(WeeklyReport, "schedule", Weekly("monday", "06:00", arguments={"x": 1}))

    [error] = check_schedules()

    assert "for_schedule" in error.msg
    assert "'x'" in error.msg or "note" in error.msg


def test_two_declarations_of_one_name_are_reported(monkeypatch):
    monkeypatch.setattr(NoopJob, "schedule", [Daily("06:00"), Daily("18:00")])

    assert [error.id for error in check_schedules()] == ["jobs.E003", "jobs.E003"]


def test_what_is_declared_is_good():
    assert checks.check_schedules() == []
