"""manage.py jobs schedules: the same facts and the same actions, for scripts."""

import io
import json
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from jobs.models import Schedule
from jobs.queue import pausing
from tests.jobs.schedules.timetable import MONDAY, new_schedule
from tests.testapp.models import NoopJob

pytestmark = pytest.mark.django_db


def run(*arguments):
    """What it prints, and its exit code."""
    out = io.StringIO()
    try:
        call_command("jobs", "schedules", *arguments, stdout=out)
    except SystemExit as end:
        return out.getvalue(), end.code
    except CommandError as error:
        return str(error), error.returncode
    return out.getvalue(), 0


def as_data(*arguments):
    return json.loads(run(*arguments, "--json")[0])


def test_it_lists_when_each_runs_in_words(clock):
    new_schedule(cron="0 6 * * 1", time_zone="Asia/Tokyo")

    text, code = run()

    assert code == 0
    assert "sweep  on  every Monday at 06:00 (Asia/Tokyo)  next 2026-05-10 21:00 UTC" in text
    assert not User.objects.exists()  # only looking leaves no trace


def test_a_moment_that_has_passed_is_not_told_as_the_next_one(clock):
    new_schedule()
    clock.moment = MONDAY + timedelta(hours=1)

    assert "due since 2026-05-04 06:01 UTC" in run()[0]
    assert as_data("sweep")["due"]


def test_it_tells_that_the_kind_is_paused():
    new_schedule()
    pausing.pause("testapp.NoopJob", "not now")

    assert "this kind of job is paused" in run()[0]


def test_it_shows_one_in_detail():
    new_schedule(skipped=2, skipped_for=MONDAY, skip_reason="No worker looked in time.")

    found = as_data("sweep")

    assert (found["kind"], found["cron"]) == ("testapp.NoopJob", "* * * * *")
    assert (found["skipped"], found["skip_reason"]) == (2, "No worker looked in time.")
    assert "cron: * * * * *" in run("sweep")[0]


def test_a_broken_one_is_told_and_sets_the_exit_code():
    new_schedule(cron="0 0 31 2 *")

    text, code = run()

    assert code == 1
    assert "! “0 0 31 2 *” never comes" in text


def test_it_runs_one_now_and_notes_who_did():
    new_schedule()
    User.objects.create_user("ada")

    assert run("sweep", "--run", "--by", "ada")[1] == 0

    assert NoopJob.objects.get().schedule_name == "sweep"
    assert {entry.user.username for entry in LogEntry.objects.all()} == {"ada"}
    for dry in ([], ["--dry-run"]):
        text, code = run("sweep", "--run", *dry)
        assert (code, "still open" in text) == (2, True)


def test_it_switches_off_and_on():
    new_schedule()

    assert run("sweep", "--off")[1] == 0
    assert not Schedule.objects.get().enabled
    assert run("sweep", "--off")[1] == 1  # it was off already
    assert run("sweep", "--on")[1] == 0
    assert Schedule.objects.get().enabled
    assert LogEntry.objects.count() == 2


@pytest.mark.parametrize("do", ["--run", "--off"])
def test_a_dry_run_changes_nothing(do):
    new_schedule()

    text, code = run("sweep", do, "--dry-run")

    assert code == 0
    assert "would" in text
    assert Schedule.objects.get().enabled
    assert NoopJob.objects.count() == User.objects.count() == 0


@pytest.mark.parametrize("arguments", [("gone",), ("--run",), ("gone", "--off")])
def test_an_unknown_name_is_told_with_the_known_ones(arguments):
    new_schedule()

    text, code = run(*arguments)

    assert code == 2
    assert "sweep" in text
