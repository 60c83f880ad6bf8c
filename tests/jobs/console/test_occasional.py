"""Workers that do not stay: the console misses them only when they stop coming."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db.models.functions import Now
from django.urls import reverse

from jobs.console import needs
from jobs.models import Status, Worker
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import in_state, page_of

pytestmark = pytest.mark.django_db(transaction=True)

ENDPOINT = "/internal/run-jobs/"


def came(*minutes_ago, way=ENDPOINT):
    """Workers that started so many minutes ago, worked for a second and ended."""
    for number, minutes in enumerate(minutes_ago):
        start = Now() - timedelta(minutes=minutes)
        end = start + timedelta(seconds=1)
        moments = {"started_at": start, "last_beat_at": end, "lease_expires_at": end}
        name = f"{way}:{number}"
        Worker.objects.create(name=name, slots=4, version="1", way=way, ended_at=end, **moments)


def kinds():
    return [need.kind for need in needs.needs(needs.Situation.look())]


@pytest.mark.parametrize(
    ("minutes_ago", "is_missed"),
    [
        ([], True),
        ([4], False),  # the first one: nobody knows yet when the next will come
        ([6], True),
        ([5, 4, 3, 2, 1], False),  # every minute
        ([8, 7, 6, 5, 4], True),
        ([45, 30, 15], False),  # every quarter of an hour
        ([65, 50, 35], True),
        ([30.1, 30, 20, 10.1, 10], False),  # every ten minutes, two web processes each time
        ([36 * 60, 12 * 60, 10], True),  # now and then, by hand
    ],
)
def test_no_worker_is_missed_while_one_comes_regularly(minutes_ago, is_missed):
    new_chore("due")
    came(*minutes_ago)

    assert ("no_worker" in kinds()) == is_missed


def test_a_job_of_a_killed_run_waits_for_the_next_one():
    in_state(Status.PROCESSING, "a")
    assert "no_worker" in kinds()

    came(2, 1)

    assert "no_worker" not in kinds()


def test_a_run_that_is_about_to_end_is_no_fleet_that_stops():
    new_chore("due")
    Worker.objects.create(
        name="w",
        slots=4,
        version="1",
        way=ENDPOINT,
        draining=True,
        lease_expires_at=Now() + timedelta(seconds=30),
    )

    assert kinds() == []


def test_who_comes_regularly_in_one_way_need_not_in_another():
    new_chore("due")
    came(60, 59, 58, way="runworker --drain")
    came(3, 2, 1)

    assert kinds() == []


def test_the_console_tells_when_the_last_run_was_and_by_what(operator):
    came(42.5, 37.5, 32.5)

    page = operator.get(reverse("admin:console")).text

    assert "Last run 32 min ago by /internal/run-jobs/" in page
    assert "ended" in operator.get(reverse("admin:jobs_worker_changelist")).text


def test_the_command_tells_it_too():
    came(30.5)
    out = StringIO()

    call_command("jobs", "status", stdout=out)
    assert "last run 30 min ago by /internal/run-jobs/" in out.getvalue()

    out = StringIO()
    call_command("jobs", "status", "--json", stdout=out)
    assert list(json.loads(out.getvalue())["last_runs"]) == [ENDPOINT]


def test_a_waiting_job_does_not_wait_in_vain_between_two_runs(admin_client):
    job = new_chore("due")
    assert "no worker takes jobs now" in page_of(admin_client, job)

    came(2, 1)

    assert "no worker takes jobs now" not in page_of(admin_client, job)
