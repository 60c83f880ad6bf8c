"""Another time or priority from the console and the command line."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from jobs.db import clock
from jobs.models import Status
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import choose, confirm, in_state, new_call, page_of
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def page(job):
    return reverse("admin:testapp_chore_reschedule", args=[job.pk])


def in_a_form(moment):
    """As a browser sends a local time, in minutes."""
    return timezone.localtime(moment).strftime("%Y-%m-%dT%H:%M")


def priorities():
    return dict(Chore.objects.values_list("name", "priority"))


def messages():
    return list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True))


def run(*arguments):
    out = StringIO()
    code = 0
    try:
        call_command("jobs", "reschedule", *arguments, stdout=out)
    except SystemExit as ended:
        code = ended.code
    return out.getvalue(), code


# One job


def test_the_page_of_a_queued_job_leads_to_the_form(operator, chore):
    assert page(chore) in page_of(operator, chore)

    form = operator.get(page(chore)).text

    assert "UTC" in form
    assert "A time in the past means now." in form


def test_a_time_is_read_in_the_sites_zone(operator, chore, settings):
    settings.TIME_ZONE = "Asia/Tokyo"
    later = (clock.now() + HOUR).replace(second=0, microsecond=0)

    shown = operator.post(page(chore), {"at": in_a_form(later), "priority": ""}, follow=True)

    assert "Jobs with another time or priority: 1." in shown.text
    assert Chore.objects.get().run_after == later


def test_old_and_new_values_are_noted(operator, chore):
    Chore.objects.update(run_after="2030-01-01T10:00:00Z", priority=3)

    operator.post(page(chore), {"at": "", "priority": "-5"})
    operator.post(page(chore), {"at": "2001-01-01T00:00", "priority": ""})
    operator.post(page(chore), {"at": in_a_form(clock.now() + HOUR), "priority": "0"})

    first, second, third = messages()
    assert first == "Priority -5 instead of 3."
    assert second.endswith("instead of 2030-01-01 10:00:00.")
    assert second.startswith(f"Not before {clock.now():%Y-%m-%d}")
    assert third.endswith(", and priority 0 instead of -5.")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, "Give a time, a priority, or both."),
        ({"at": "soon"}, "Enter a valid date/time."),
        ({"at": "2999-01-01T00:00"}, "At most 366 days from now."),
        ({"priority": "32768"}, "less than or equal to 32767"),
        ({"priority": "-32769"}, "greater than or equal to -32768"),
        ({"priority": "high"}, "Enter a whole number."),
    ],
)
def test_bad_values_are_refused_beside_their_fields(operator, chore, fields, error):
    shown = operator.post(page(chore), {"at": "", "priority": "", **fields})

    assert shown.status_code == 200
    assert error in shown.text
    assert Chore.objects.get().run_after == chore.run_after
    assert messages() == []


def test_a_job_that_runs_meanwhile_is_left_alone_and_that_is_said(operator, worker, chore):
    worker.claim_one()

    shown = operator.post(page(chore), {"priority": "5"}, follow=True)

    assert "Not changed, because they are processing: 1." in shown.text
    assert page(chore) not in page_of(operator, chore)


def test_a_job_in_a_batch_says_that_it_keeps_waiting(operator, chore):
    new_call(chore, state="waiting")

    assert "Their time is not changed" in operator.get(page(chore)).text
    at = in_a_form(clock.now() + HOUR)
    shown = operator.post(page(chore), {"at": at}, follow=True).text

    assert "Not changed, because they are in a batch: 1." in shown
    assert Chore.objects.get().run_after == chore.run_after


def test_a_viewer_can_not(viewer, chore):
    assert page(chore) not in page_of(viewer, chore)
    assert viewer.get(page(chore)).status_code == 403
    assert viewer.post(page(chore), {"priority": "5"}).status_code == 403
    assert "reschedule" not in choose(viewer, "reschedule", chore, chore).text
    assert priorities() == {"sweep": 0}


def test_a_job_that_is_gone_is_not_found(operator, chore):
    Chore.objects.update(status=Status.CANCELED, finished_at=clock.now())
    Chore.objects.all().delete()

    assert operator.get(page(chore)).status_code == 404


# Many


def test_many_get_a_form_with_a_preview_and_are_changed_together(operator):
    jobs = [new_chore(name) for name in "abc"]
    jobs += in_state(Status.FAILED, "d")

    form = choose(operator, "reschedule", *jobs)
    assert "<b>3</b> chores will be changed." in form.text
    assert "1 failed" in form.text
    form.context["hidden"].append(("priority", "9"))
    shown = confirm(operator, form, "reschedule").text

    assert "Jobs with another time or priority: 3." in shown
    assert "Not changed, because they are failed: 1." in shown
    assert priorities() == {"a": 9, "b": 9, "c": 9, "d": 0}
    assert sorted(messages()) == ["Priority 9 instead of 0."] * 3 + ["Priority 9 now."]


def test_a_bad_value_for_many_shows_the_form_again(operator):
    jobs = [new_chore(name) for name in "ab"]
    form = choose(operator, "reschedule", *jobs)
    form.context["hidden"].append(("priority", "high"))

    again = confirm(operator, form, "reschedule")

    assert "Enter a whole number." in again.text
    again.context["hidden"].append(("priority", "2"))
    confirm(operator, again, "reschedule")
    assert priorities() == {"a": 2, "b": 2}


def test_a_long_action_goes_on_with_the_same_values(operator, monkeypatch):
    monkeypatch.setattr("jobs.admin.acting.SECONDS", 0.0)
    monkeypatch.setattr("jobs.queue.CHUNK", 1)
    jobs = [new_chore(name) for name in "abc"]
    later = (clock.now() + HOUR).replace(second=0, microsecond=0)
    shown = choose(operator, "reschedule", *jobs)
    shown.context["hidden"].extend([("at", in_a_form(later)), ("priority", "4")])

    for _ in range(3):
        shown = confirm(operator, shown, "reschedule")

    assert "Jobs with another time or priority: 3." in shown.text
    assert set(Chore.objects.values_list("run_after", "priority")) == {(later, 4)}


def test_those_in_a_batch_are_left_alone_and_counted(operator):
    jobs = [new_chore(name) for name in "abc"]
    new_call(jobs[0], state="waiting")
    form = choose(operator, "reschedule", *jobs)
    assert "In a batch: 1." in form.text
    form.context["hidden"].append(("at", in_a_form(clock.now() + HOUR)))

    shown = confirm(operator, form, "reschedule").text

    assert "Jobs with another time or priority: 2." in shown
    assert "Not changed, because they are in a batch: 1." in shown


# The command line


def test_the_command_gives_another_priority_and_notes_it(chore):
    said, code = run(str(chore.pk), "--priority", "-3", "--in-minutes", "60")

    assert code == 0
    assert said.startswith("reschedule: changed 1, left alone 0")
    assert priorities() == {"sweep": -3}
    assert messages()[0].endswith("and priority -3 instead of 0.")


def test_a_dry_run_changes_nothing_and_counts_what_is_left_alone(chore):
    other = new_chore("in a batch")
    new_call(other, state="waiting")

    said = run("--kind", "testapp.Chore", "--in-minutes", "5", "--dry-run", "--json")[0]

    data = json.loads(said)
    assert (data["action"], data["changed"], data["left_alone"]) == ("reschedule", 1, 1)
    assert messages() == []


def test_a_named_job_that_is_left_alone_is_told_by_the_exit_code():
    [job] = in_state(Status.FAILED, "a")

    assert run(str(job.pk), "--priority", "1")[1] == 1


def test_a_time_is_taken_with_and_without_a_zone(chore):
    later = (clock.now() + HOUR).replace(second=0, microsecond=0)

    for text in (in_a_form(later), later.isoformat()):
        run(str(chore.pk), "--at", text)
        assert Chore.objects.get().run_after == later
        Chore.objects.update(run_after=clock.now())


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ([], "Give --at, --in-minutes or --priority"),
        (["--at", "2030-01-01T00:00", "--in-minutes", "5"], "not both"),
        (["--at", "soon"], "--at soon"),
        (["--at", "2030-13-45T00:00"], "--at 2030-13-45"),
        (["--at", "2999-01-01T00:00"], "at most 366 days"),
        (["--in-minutes", "-1"], "--in-minutes -1"),
        (["--in-minutes", "nan"], "--in-minutes nan"),
        (["--priority", "40000"], "--priority 40000"),
    ],
)
def test_wrong_usage_is_answered_with_the_value(chore, arguments, error):
    with pytest.raises(CommandError, match=error) as raised:
        run(str(chore.pk), *arguments)
    assert raised.value.returncode == 2
