"""Pausing a kind of job from the console and the command line, and what people are told."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.db.models.functions import Now
from django.urls import reverse

from jobs import queue
from jobs.console import needs
from jobs.db import clock
from jobs.models import Pause
from jobs.paid import limits
from jobs.paid.batches.models import Batch
from jobs.queue import pausing, processes
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import LIST, cards_of, page_of
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db

KIND = "testapp.Chore"
PAUSE, RESUME = (reverse(f"admin:testapp_chore_{verb}") for verb in ("pause", "resume"))
DASHBOARD = reverse("admin:index")


def is_paused():
    return Pause.objects.of(KIND).exists()


def wait_for_long(*names):
    for name in names:
        new_chore(name)
    Chore.objects.update(run_after=Now() - timedelta(hours=2))


def needed():
    return {need.kind: need.text for need in needs.needs(needs.Situation.look())}


def run(*arguments):
    out = StringIO()
    code = 0
    try:
        call_command("jobs", *arguments, stdout=out)
    except SystemExit as ended:
        code = ended.code
    return out.getvalue(), code


# The pages


def test_an_operator_pauses_a_kind_with_a_reason(operator, chore):
    asked = operator.get(PAUSE).text
    page = operator.post(PAUSE, {"reason": "repairs"}, follow=True)

    assert "Running ones finish." in asked
    assert page.redirect_chain[-1][0] == LIST
    assert "this kind of job is paused: repairs" in page.text
    assert RESUME in page.text
    assert Pause.objects.get().by == "operators"


def test_a_pause_of_minutes_has_an_end(operator):
    operator.post(PAUSE, {"minutes": "90"})

    row = Pause.objects.get()
    assert timedelta(minutes=89) < row.until - clock.now() <= timedelta(minutes=90)
    assert row.reason == "Paused by operators."


@pytest.mark.parametrize("minutes", ["0", "-5", "1e9", "527041", "soon"])
def test_minutes_that_make_no_sense_are_refused_beside_their_field(operator, minutes):
    page = operator.post(PAUSE, {"minutes": minutes, "reason": "repairs"})

    assert page.status_code == 200
    assert 'id="minutes-error"' in page.text
    assert 'value="repairs"' in page.text
    assert not is_paused()


def test_one_click_resumes_from_the_dashboard(operator, chore):
    pausing.pause(KIND, "repairs")
    assert "this kind of job is paused: repairs" in operator.get(DASHBOARD).text

    answer = operator.post(RESUME, {"from": "dashboard"})

    assert answer.url == DASHBOARD
    assert not is_paused()
    assert "this kind of job is paused" not in operator.get(DASHBOARD).text


def test_both_are_noted_once_with_the_person_and_the_reason(operator):
    operator.post(PAUSE, {"reason": "repairs"})
    operator.post(RESUME)
    operator.post(RESUME)

    entries = LogEntry.objects.order_by("pk").values_list("object_repr", "change_message")
    assert list(entries) == [("chores", "Paused until resumed: repairs"), ("chores", "Resumed.")]


def test_a_longer_pause_is_kept_and_that_is_said(operator):
    pausing.pause(KIND, "repairs")

    page = operator.post(PAUSE, {"minutes": "5"}, follow=True)

    assert "the pause lasts longer already" in page.text
    assert Pause.objects.get().until is None
    assert not LogEntry.objects.exists()


def test_a_viewer_sees_the_pause_and_can_not_change_it(viewer, chore):
    pausing.pause(KIND, "repairs")

    page = viewer.get(LIST).text

    assert "this kind of job is paused: repairs" in page
    assert PAUSE not in page
    assert RESUME not in page
    assert viewer.get(PAUSE).status_code == viewer.post(PAUSE).status_code == 403
    assert viewer.post(RESUME).status_code == 403
    assert is_paused()


def test_a_job_of_a_paused_kind_says_so_on_its_page_and_in_the_list(operator, chore):
    pausing.pause(KIND, "<b>repairs</b>")

    assert "this kind of job is paused – &lt;b&gt;repairs" in page_of(operator, chore)
    assert "<td" in (page := operator.get(LIST).text)
    assert page.count("this kind of job is paused") == 2  # above the list, and in its row


def test_a_process_with_jobs_of_a_paused_kind_says_so(operator):
    process = processes.start("weeks")
    queue.enqueue([Chore(name="a", process_id=process.pk)])
    pausing.pause(KIND, "repairs")

    assert "chores: this kind of job is paused" in cards_of(operator, process)


def test_a_batch_that_waits_says_that_batches_are_paused(operator):
    Batch.objects.collect_soon("gemini:flash")
    pausing.pause("jobs.Batch", "repairs")

    page = cards_of(operator, Batch.objects.get())

    assert "this kind of job is paused" in page
    assert "as soon as a worker is free" not in page


# What needs a person


def test_a_pause_without_an_end_that_keeps_jobs_waiting_needs_a_person_once(alive):
    wait_for_long("a", "b")
    pausing.pause(KIND, "repairs")

    found = needed()

    text = "Paused: chores. The oldest one has been due for 120 minutes – repairs"
    assert found == {"kind_paused": text}


@pytest.mark.parametrize("situation", ["with an end", "nothing waits long"])
def test_other_pauses_need_nobody(alive, situation):
    if situation == "with an end":
        wait_for_long("a")
        pausing.pause(KIND, "repairs", clock.now() + timedelta(hours=1))
    else:
        new_chore("a")
        pausing.pause(KIND, "repairs")

    assert needed() == {}


def test_no_worker_is_missed_for_a_paused_kind():
    wait_for_long("a")
    assert "no_worker" in needed()

    pausing.pause(KIND, "repairs")

    assert "no_worker" not in needed()


def test_after_the_pause_workers_are_not_blamed_for_its_time(alive):
    wait_for_long("a")
    pausing.pause(KIND, "repairs")
    pausing.resume(KIND)
    assert needed() == {}

    Pause.objects.update(until=Now() - timedelta(hours=1))

    assert needed()["waiting"].endswith("has been due for 60 minutes")


# The command line


def test_the_command_pauses_and_resumes_a_kind():
    said, code = run("pause", KIND, "--reason", "repairs", "--minutes", "5")
    assert (code, said.startswith(f"{KIND}: paused until 20")) == (0, True)
    assert is_paused()

    assert run("resume", KIND) == (f"{KIND}: open\n", 0)
    assert not is_paused()
    assert LogEntry.objects.count() == 2


def test_a_dry_run_of_it_changes_nothing():
    data = json.loads(run("pause", KIND, "--dry-run", "--json")[0])

    assert (data["kind"], data["changed"]) == (KIND, False)
    assert not Pause.objects.exists()


def test_the_command_shows_why_a_job_waits(chore):
    pausing.pause(KIND, "repairs")

    assert "waits for: this kind of job is paused: repairs\n" in run("show", str(chore.pk))[0]


def test_the_status_names_paused_kinds(chore):
    pausing.pause(KIND, "repairs")

    assert f"{KIND}: this kind of job is paused: repairs\n" in run("status")[0]
    told = json.loads(run("status", "--json")[0])["paused"]
    assert told == {KIND: {"until": None, "reason": "repairs"}}


def test_an_unknown_name_is_answered_with_what_there_is():
    limits.find("dear")

    with pytest.raises(CommandError, match=r"no provider testapp.Chor.*dear.*testapp.Chore"):
        run("pause", "testapp.Chor")


def test_a_name_of_both_is_refused():
    limits.find(KIND)

    with pytest.raises(CommandError, match="is a provider and a kind of job"):
        run("pause", KIND)
