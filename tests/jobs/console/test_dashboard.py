"""The dashboard: what needs a person, and figures that can be trusted."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from jobs.admin.failures import failure_lines
from jobs.console import figures, needs
from jobs.models import Call, Provider, Status, Worker, uuid7
from jobs.paid import limits, pausing
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import attempt, in_state, log_in
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


def kinds():
    return [need.kind for need in needs.needs(needs.Situation.look())]


# What needs a person


def test_all_is_well(alive):
    assert kinds() == []


def test_no_worker_is_alive(alive):
    new_chore("due")
    assert kinds() == []

    Worker.objects.update(lease_expires_at=Now() - timedelta(seconds=1))

    assert kinds() == ["no_worker"]


def test_without_work_no_worker_is_missed():
    """Cron may start `runworker --drain` from time to time."""
    new_chore("later", run_after=Now() + timedelta(hours=1))
    in_state(Status.SUCCEEDED, "a")

    assert kinds() == []


def test_a_job_that_a_dead_worker_holds_needs_a_worker():
    in_state(Status.PROCESSING, "a")

    [need] = needs.needs(needs.Situation.look())

    assert (need.kind, "jobs are processing" in need.text) == ("no_worker", True)


def test_a_failure_needs_a_person(alive):
    in_state(Status.FAILED, "a")

    assert kinds() == ["failed"]


def test_an_unknown_outcome_needs_a_person_until_one_has_looked(alive):
    call = {"job_id": uuid7(), "epoch": 1, "key": "k", "number": 1, "deadline": Now()}
    Call.objects.create(provider="p", state="unknown", **call)
    assert kinds() == ["unknown"]

    Call.objects.update(seen=True)

    assert kinds() == []


@pytest.fixture
def dear(monkeypatch):
    """A provider that a kind of job uses."""
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: "dear"))
    return limits.find("dear")


def test_a_paused_provider_needs_a_person(alive, dear):
    pausing.pause("dear", "no money")

    [need] = needs.needs(needs.Situation.look())

    assert (need.kind, "dear" in need.text, "no money" in need.text) == ("provider", True, True)


@pytest.mark.parametrize(
    ("pause", "faults", "found"),
    [
        (timedelta(seconds=30), 1, []),
        (timedelta(seconds=30), 5, ["provider"]),
        (timedelta(minutes=11), 1, ["provider"]),
    ],
)
def test_a_pause_that_passes_by_itself_needs_nobody(alive, dear, pause, faults, found):
    Provider.objects.update(price=1)
    Provider.objects.update(paused_until=Now() + pause, faults=faults)

    assert kinds() == found


def test_nobody_works_while_the_only_worker_is_stopping(alive):
    Worker.objects.update(draining=True)
    assert kinds() == []

    new_chore("due")

    assert kinds() == ["no_worker"]
    assert needs.Situation.look().fleet == figures.Fleet(alive=1, working=0)


def test_all_workers_are_counted_and_the_living_are_shown(alive, monkeypatch):
    monkeypatch.setattr(figures, "MOST_ROWS", 1)
    for number in range(3):  # newer workers, all dead
        Worker.objects.create(name=f"x{number}", slots=1, version="1", lease_expires_at=Now())

    situation = needs.Situation.look()

    assert situation.fleet.alive == 1
    assert [worker.name for worker in situation.workers] == ["w"]
    assert kinds() == []


def test_who_waits_too_long_needs_a_person(alive, settings):
    job = new_chore("a", priority=3)
    new_chore("b")
    Chore.objects.filter(id=job.id).update(run_after=Now() - timedelta(minutes=61))
    assert kinds() == ["waiting"]

    settings.WAITING_TOO_LONG_MINUTES = 90

    assert kinds() == []


def test_who_waits_for_a_later_moment_does_not_wait_too_long(alive):
    new_chore("a")
    Chore.objects.update(run_after=Now() + timedelta(hours=2))

    assert figures.oldest_due(Chore) is None
    assert kinds() == []


# The page


def test_every_need_is_a_link_to_the_list_that_shows_it(admin_client, alive):
    in_state(Status.FAILED, "a")

    page = admin_client.get(reverse("admin:index"))

    [need] = page.context["needs"]
    listed = admin_client.get(need["link"]).context["cl"].result_list
    assert [job.name for job in listed] == ["a"]


def test_charts_and_timings_are_on_the_page(admin_client, alive):
    attempt(timedelta(0), generate=19_000)

    page = admin_client.get(reverse("admin:index"))

    [chore] = [each for each in page.context["models"] if each["key"] == "testapp-chore"]
    assert sum(json.loads(chore["hour_chart"])["datasets"][0]["data"]) == 1
    assert [row["step"] for row in chore["timings"]] == ["total", "generate"]


def test_nothing_is_sent_again_while_nothing_changes(admin_client, alive):
    limits.find("dear")  # adds a button, and with it a CSRF token
    url = reverse("admin:console")
    etag = admin_client.get(url)["ETag"]

    same = admin_client.get(url, headers={"If-None-Match": etag})
    in_state(Status.FAILED, "a")
    other = admin_client.get(url, headers={"If-None-Match": etag})

    assert (same.status_code, same.content) == (304, b"")
    assert len(same["X-As-Of"].split(":")) == 3  # hours, minutes and seconds of this look
    assert other.status_code == 200


def test_the_number_of_queries_does_not_depend_on_what_there_is(admin_client, alive):
    in_state(Status.FAILED, "a")
    attempt(timedelta(0))
    new_chore("queued")
    admin_client.get(reverse("admin:console"))
    with CaptureQueriesContext(connection) as few:
        admin_client.get(reverse("admin:console"))
    in_state(Status.FAILED, *"bcdefgh")
    for number in range(20):
        attempt(timedelta(minutes=number))
        limits.find(f"p{number}")
        new_chore(f"queued {number}")

    with CaptureQueriesContext(connection) as many:
        admin_client.get(reverse("admin:console"))

    assert len(many) == len(few) + 1  # one query for the calls of all providers


def test_every_row_and_button_has_a_key_of_its_own(admin_client, alive):
    """The script matches elements by key, so that no button changes while a person presses it."""
    limits.find("dear")
    url = reverse("admin:console")

    assert 'data-key="dear"' in admin_client.get(url).text
    assert 'data-key="w"' in admin_client.get(url).text
    assert 'data-key="dear pause"' in admin_client.get(url).text
    pausing.pause("dear", "no money")

    assert 'data-key="dear resume"' in admin_client.get(url).text


def test_who_is_queued_for_later_is_not_due(admin_client, alive):
    new_chore("a")
    assert "oldest waiting" in admin_client.get(reverse("admin:console")).text

    Chore.objects.update(run_after=Now() + timedelta(hours=2))

    assert "none is due" in admin_client.get(reverse("admin:console")).text


def test_the_failures_without_a_kind_have_a_list_of_their_own(admin_client, alive):
    in_state(Status.FAILED, *"ab")
    Chore.objects.filter(name="a").update(error_kind="Late")
    Chore.objects.filter(name="b").update(error_kind=None)

    lines = {line.kind: line.link for line in failure_lines(Chore)}

    for kind, name in (("Late", "a"), ("–", "b")):
        listed = admin_client.get(lines[kind]).context["cl"].result_list
        assert [job.name for job in listed] == [name]


def test_a_person_who_may_not_see_the_trouble_is_not_told_that_all_is_well(client):
    editor = log_in(client, "editors")
    new_chore("due")  # and no worker is alive

    page = editor.get(reverse("admin:index")).text

    assert "Nothing that you can act on." in page
    assert "All is well" not in page


def test_workers_are_shown_only_to_users_who_may_see_them(client, alive):
    editor = log_in(client, "editors")

    page = editor.get(reverse("admin:index")).text

    assert "All is well" in page
    assert "No worker is alive" not in page
    assert "workers-title" not in page
