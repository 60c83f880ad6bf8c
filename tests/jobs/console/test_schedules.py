"""The console's pages of schedules: when, how it went, and what people may change."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from jobs import schedules
from jobs.admin.base import link_to
from jobs.console import needs
from jobs.models import Schedule, Status
from jobs.queue import pausing
from jobs.schedules import declaring, looking
from tests.jobs.console.pages import EVIL, ask, cards_of, log_in
from tests.jobs.schedules.timetable import MONDAY, new_schedule
from tests.testapp.models import NoopJob

pytestmark = pytest.mark.django_db

LIST = reverse("admin:jobs_schedule_changelist")


def declared(name="sweep", **columns):
    """A schedule that is decided up to the present, as the code declares it."""
    schedule = new_schedule(name, since=Now(), **columns)
    schedule.refresh_from_db()
    schedule.declared = declaring.facts_of(schedule)
    schedule.save()
    return schedule


def save(client, schedule, **edited):
    """Send the form of its page, edited."""
    url = reverse("admin:jobs_schedule_change", args=[schedule.pk])
    form = client.get(url).context["adminform"].form
    data = {}
    for field in form:
        value = field.value()
        data[field.html_name] = data[field.html_initial_name] = "" if value is None else value
    if not form["overlap"].value():
        del data["overlap"], data["initial-overlap"]
    return client.post(url, data | edited, follow=True)


def entries(schedule):
    log = LogEntry.objects.filter(object_id=schedule.pk, content_type__model="schedule")
    return list(log.values_list("change_message", flat=True))


# What it says


def test_the_list_tells_when_in_words_and_how_the_last_run_went(operator):
    schedule = declared(cron="0 6 * * 1", time_zone="Asia/Tokyo")
    job = schedules.run_now(schedule)

    page = operator.get(LIST).text

    assert "every Monday at 06:00 (Asia/Tokyo)" in page
    assert reverse("admin:testapp_noopjob_change", args=[job.pk]) in page
    assert "queued" in page


def test_the_page_tells_what_was_skipped_and_why(operator):
    schedule = declared(skipped=3, skipped_for=MONDAY, skip_reason=looking.OPEN)

    page = cards_of(operator, schedule)

    assert "2026-05-04 06:00:00" in page
    assert "The last run was still open." in page


def test_the_next_run_is_told_by_the_clocks_of_its_zone_too(operator):
    page = cards_of(operator, declared(cron="0 6 * * *", time_zone="Asia/Tokyo"))

    assert "21:00:00" in page
    assert "06:00 Asia/Tokyo" in page


def test_a_moment_that_no_worker_has_seen_is_told_as_due(operator):
    assert "due: waits for a worker to look" in cards_of(operator, new_schedule(since=MONDAY))


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"enabled": False}, "off"),
        ({"undeclared_at": MONDAY}, "no longer in the code"),
        ({"cron": "0 0 31 2 *"}, "never comes"),
        ({"kind": "testapp.Gone"}, "“testapp.Gone” is unknown"),
        ({"cron": EVIL}, "&lt;script&gt;"),
        ({"time_zone": EVIL}, "&lt;script&gt;"),
        ({"kind": EVIL}, "&lt;script&gt;"),
    ],
)
def test_one_that_does_not_run_says_why(operator, columns, told):
    schedule = new_schedule(**columns)

    page = cards_of(operator, schedule)

    assert told in page
    assert "<script>alert(1)" not in page + operator.get(LIST).text


def test_one_whose_kind_is_paused_says_so(operator):
    schedule = declared()
    pausing.pause("testapp.NoopJob", "not now")

    assert "this kind of job is paused" in cards_of(operator, schedule)
    assert "this kind of job is paused" in operator.get(LIST).text


def test_a_run_of_a_kind_that_a_person_may_not_see_is_no_link_and_has_no_name(client):
    schedule = declared(kind="testapp.Chore", arguments={"name": "a secret name"})
    job = schedules.run_now(schedule)
    user = User.objects.create_user("ada", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_schedule"))
    client.force_login(user)

    page = client.get(LIST).text + cards_of(client, schedule).partition("arguments")[0]

    assert "queued" in page
    assert reverse("admin:testapp_chore_change", args=[job.pk]) not in page
    assert "a secret name" not in page


def test_a_broken_schedule_needs_a_person_and_one_that_is_off_does_not(alive):
    new_schedule("broken", cron="0 0 31 2 *")
    new_schedule("off", cron="0 0 31 2 *", enabled=False)
    new_schedule("late", since=MONDAY)

    [need] = needs.needs(needs.Situation.look())

    assert need.kind == "schedule"
    assert "broken" in need.text
    assert "never comes" in need.text


@pytest.mark.parametrize("name", ["every night", 'the "big" one', "it's"])
def test_the_line_of_a_need_leads_to_its_schedule(operator, alive, name):
    new_schedule(name, cron="0 0 31 2 *")
    new_schedule("another")
    [need] = needs.needs(needs.Situation.look())

    found = operator.get(link_to(need.model, need.query)).context["cl"].result_list

    assert [schedule.name for schedule in found] == [name]


def test_the_list_takes_as_many_queries_for_many_schedules(operator):
    def queries():
        with CaptureQueriesContext(
            connection,
        ) as captured:
            operator.get(LIST)
        return len(captured)

    schedules.run_now(declared("a", overlap=True))
    few = queries()
    for number in range(20):
        schedules.run_now(declared(f"s{number}", overlap=True))

    assert queries() == few


# What people change


def test_a_changed_time_is_noted_and_the_next_run_is_told(operator):
    schedule = declared()
    before = Schedule.objects.get().last_scheduled_for

    page = save(operator, schedule, cron="30 9 * * *", time_zone="Asia/Tokyo")

    row = Schedule.objects.get()
    assert (row.cron, row.time_zone) == ("30 9 * * *", "Asia/Tokyo")
    assert row.last_scheduled_for >= before
    assert "runs every day at 09:30 (Asia/Tokyo), next at" in page.text
    [entry] = entries(schedule)
    assert "cron: * * * * * → 30 9 * * *" in entry
    assert "the code says * * * * *" in cards_of(operator, schedule)


@pytest.mark.parametrize(
    ("edited", "told"),
    [
        ({"cron": "0 0 31 2 *"}, "never comes"),
        ({"cron": "* * * * * *"}, "seconds are not supported"),
        ({"cron": ""}, "This field is required"),
        ({"time_zone": "Mars/One"}, "“Mars/One” is not a time zone"),
        ({"grace": "30"}, "a minute to a year"),
        ({"grace": "soon"}, "Enter a valid duration"),
    ],
)
def test_what_is_not_valid_is_refused_at_its_field(operator, edited, told):
    schedule = declared()

    page = save(operator, schedule, **edited)

    assert told in page.text
    assert Schedule.objects.filter(cron="* * * * *", time_zone="UTC", grace=None).exists()
    assert entries(schedule) == []


def test_an_old_form_does_not_undo_a_newer_change(operator):
    schedule = declared()
    url = reverse("admin:jobs_schedule_change", args=[schedule.pk])
    schedules.change(schedule, cron="0 6 * * *")

    shown = {"cron": "* * * * *", "initial-cron": "* * * * *"}
    shown |= {"time_zone": "UTC", "initial-time_zone": "UTC", "initial-grace": ""}
    operator.post(url, shown | {"grace": "02:00:00"})

    row = Schedule.objects.get()
    assert (row.cron, row.grace) == ("0 6 * * *", timedelta(hours=2))


def test_a_person_can_go_back_to_the_codes_values(operator):
    schedule = declared()
    schedules.change(schedule, cron="0 6 * * *", overlap=True)

    asked = ask(operator, schedule, "restore", "get").text
    ask(operator, schedule, "restore")

    assert "0 6 * * * → * * * * *" in asked
    row = Schedule.objects.get()
    assert (row.cron, row.overlap) == ("* * * * *", False)
    assert "Back to the code" not in cards_of(operator, schedule)
    assert "cron: 0 6 * * * → * * * * *" in entries(schedule)[0]


def test_run_now_enqueues_a_run_once(operator):
    schedule = declared()

    first = ask(operator, schedule, "run").text
    second = ask(operator, schedule, "run").text

    job = NoopJob.objects.get()
    assert (job.schedule_name, job.scheduled_for, job.status) == ("sweep", None, Status.QUEUED)
    assert str(job.pk) in first
    assert "still open" in second
    assert len(entries(schedule)) == 1


def test_it_is_switched_off_and_on(operator):
    schedule = declared()

    assert "it is off" in ask(operator, schedule, "off").text
    assert not Schedule.objects.get().enabled
    assert "Switch on" in cards_of(operator, schedule)
    assert "next at" in ask(operator, schedule, "on").text
    assert Schedule.objects.get().enabled
    assert len(entries(schedule)) == 2


@pytest.mark.parametrize("name", ["run", "off", "restore"])
def test_a_viewer_sees_and_changes_nothing(viewer, name):
    schedule = declared()
    schedules.change(schedule, overlap=True)

    assert "Run now" not in cards_of(viewer, schedule)
    assert ask(viewer, schedule, name).status_code == 403
    url = reverse("admin:jobs_schedule_change", args=[schedule.pk])
    assert viewer.post(url, {"cron": "0 6 * * *"}).status_code == 403

    row = Schedule.objects.get()
    assert (row.cron, row.enabled, row.overlap) == ("* * * * *", True, True)
    assert NoopJob.objects.count() == 0


def test_others_see_nothing(client):
    log_in(client, "editors")

    assert client.get(LIST).status_code == 403


def test_a_jobs_page_tells_which_schedule_it_is_a_run_of(operator):
    job = schedules.run_now(declared())

    page = operator.get(reverse("admin:testapp_noopjob_change", args=[job.pk])).text

    assert "sweep – by hand" in page
