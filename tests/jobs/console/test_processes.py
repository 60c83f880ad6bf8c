"""The console's pages of processes: true in every state, cheap, and careful about who acts."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from jobs import queue
from jobs.console import processes, shown
from jobs.models import Call, Process, Status
from jobs.paid import limits, pausing
from tests.jobs.batching import GEMINI, new_batch, new_member, new_process, submitted
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import EVIL, ask, cards_of, log_in
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db

LIST = reverse("admin:jobs_process_changelist")


def situation(process):
    [course] = processes.look([process])
    return course.situation


def job(name):
    return Chore.objects.get(name=name)


# What it says


def test_an_open_process_says_what_it_waits_for(worker):
    process = new_process("a", "b")

    assert situation(process) == "its jobs wait for their turn"
    worker.claim()
    assert situation(process) == "running: 1"


def test_a_process_in_a_batch_says_how_far_that_is():
    process = new_process("a", "b")
    new_member(job("a"), submitted())

    assert situation(process) == f"1 of its calls: batch of 10 at {GEMINI}, 40 % after 3 h"


def test_a_batch_of_its_calls_alone_is_its_own():
    process = new_process("a", "b")
    batch = submitted(total=2, done=1)
    for name in ("a", "b"):
        new_member(job(name), batch)

    assert situation(process) == f"batch of 2 at {GEMINI}, 50 % after 3 h"


def test_calls_that_are_made_at_once_wait_for_no_batch():
    process = new_process("a")
    new_member(job("a"), state="waiting", strategy="sync")

    assert situation(process) == "its jobs wait for their turn"


def test_calls_that_no_batch_has_taken_yet_are_told_as_waiting():
    process = new_process("a", "b")
    new_member(job("a"), state="waiting")
    new_member(job("b"), state="waiting")

    assert situation(process) == f"2 calls wait for the next batch at {GEMINI}"


def test_a_batch_that_is_not_sent_has_no_percent():
    process = new_process("a")
    new_member(job("a"), new_batch(collected_at=Now(), total=1), state="waiting")

    assert situation(process) == f"batch of 1 at {GEMINI}: not sent yet"


def test_a_paused_provider_is_named(monkeypatch):
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: "dear"))
    process = new_process("a")
    limits.find("dear")
    pausing.pause("dear", "quota")

    assert "dear: the provider is paused" in situation(process)


def test_what_holds_up_a_batch_is_told():
    process = new_process("a")
    new_member(job("a"), state="waiting")
    limits.find(GEMINI)
    pausing.pause(GEMINI, "quota")

    waits = f"1 call waits for the next batch at {GEMINI}"
    assert situation(process) == f"{waits}; {GEMINI}: the provider is paused"


def test_jobs_that_start_later_say_when():
    process = new_process("a")
    Chore.objects.update(run_after=Now() + timedelta(hours=1))

    start = shown.moment(job("a").run_after)
    assert situation(process) == f"its next job starts at {start} at the earliest"


def test_a_process_that_ended_a_moment_ago_has_not_lost_its_jobs():
    as_it_was = new_process("a")
    queue.cancel(Chore.objects.all())

    assert situation(as_it_was) == ""


def test_lost_jobs_are_told():
    process = new_process("a")
    Chore.objects.all()._raw_delete(using="default")

    assert situation(process) == "its open jobs no longer exist"


def test_a_process_that_is_not_sealed_waits_for_more_jobs():
    assert situation(new_process(sealed=False)) == "more jobs may be added"


@pytest.mark.parametrize(
    ("names", "canceled", "state"),
    [((), (), "ended"), (("a", "b"), ("a", "b"), "ended, with canceled jobs")],
)
def test_an_ended_process_says_how_it_ended(operator, names, canceled, state):
    process = new_process(*names)
    queue.cancel(Chore.objects.filter(name__in=canceled))
    process.refresh_from_db()

    [course] = processes.look([process])

    assert (course.state, course.situation) == (state, "")
    assert state in cards_of(operator, process)


def test_an_empty_process_shows_no_bar(operator):
    page = cards_of(operator, new_process())

    assert "It had no jobs." in page
    assert "tc-portions" not in page
    assert "0 / 0" in page


def test_a_process_with_failures_is_red_even_while_it_is_open(operator):
    process = new_process("a", "b")
    Process.objects.filter(pk=process.pk).update(failed=1, open=1)

    page = cards_of(operator, process)

    assert "tc-label tc-is-danger" in page
    assert "1 failed" in page


def test_results_that_were_consumed_are_told(operator):
    process = new_process("a")
    queue.cancel(Chore.objects.all())
    Chore.objects.all().delete()

    assert "None is left" in cards_of(operator, process)


def test_the_jobs_of_a_process_are_a_filtered_list(operator):
    process = new_process("mine")
    new_chore("foreign")

    link = reverse("admin:testapp_chore_changelist") + f"?process={process.pk}"
    rows = operator.get(link).text

    assert link in cards_of(operator, process)
    assert "mine" in rows
    assert "foreign" not in rows
    for forged in ("x", "00000000-0000-0000-0000-000000000000"):
        url = reverse("admin:testapp_chore_changelist") + f"?process={forged}"
        assert operator.get(url, follow=True).status_code == 200


def test_texts_of_others_are_escaped(operator):
    process = new_process("a", label=EVIL)
    Process.objects.filter(pk=process.pk).update(follow_error=EVIL)

    for page in (cards_of(operator, process), operator.get(LIST).text):
        assert "<script>alert" not in page


def test_the_list_needs_no_query_per_row(operator):
    def queries():
        with CaptureQueriesContext(connection) as found:
            assert operator.get(LIST).status_code == 200
        return len(found)

    new_member_of(new_process("a1", "a2"))
    few = queries()
    for n in range(5):
        new_member_of(new_process(f"b{n}", f"c{n}"))

    assert queries() == few


def new_member_of(process):
    for chore in Chore.objects.filter(process_id=process.pk):
        new_member(chore, submitted())


def test_an_open_page_gets_its_live_part(operator):
    url = reverse("admin:jobs_process_change", args=[new_process("a").pk])
    queue.cancel(Chore.objects.all())  # the page of an open process counts its seconds

    part = operator.get(url, headers={"X-Renew": "1"})
    again = operator.get(url, headers={"X-Renew": "1", "If-None-Match": part["ETag"]})

    assert 'data-live="process"' in part.text
    assert "<html" not in part.text
    assert again.status_code == 304


# What people do


def test_cancel_asks_first_and_cancels_the_living_jobs(operator):
    process = new_process("a", "b")
    new_chore("foreign")
    queue.cancel(Chore.objects.filter(name="b"))

    question = ask(operator, process, "cancel", "get").text
    assert "Chores to be canceled: 1" in question
    assert job("a").status == Status.QUEUED
    page = ask(operator, process, "cancel").text

    assert "Jobs canceled: 1." in page
    assert "Canceled its jobs." in page
    assert (job("a").status, job("foreign").status) == (Status.CANCELED, Status.QUEUED)


def test_the_rest_is_made_at_once(operator):
    process = new_process("waits", "sent", "collected", "hurried")
    new_member(job("waits"), state="waiting")
    new_member(job("sent"), submitted())
    new_member(job("collected"), new_batch(collected_at=Now()), state="waiting")
    new_member(job("hurried"), state="waiting", strategy="sync")
    new_member(new_chore("foreign"), state="waiting")

    assert "Calls that wait for a batch: 1<" in ask(operator, process, "hurry", "get").text
    page = ask(operator, process, "hurry").text

    assert "Calls that are made at once now: 1." in page
    hurried = set(Call.objects.filter(strategy="sync").values_list("job_id", flat=True))
    assert hurried == {job("waits").id, job("hurried").id}
    assert "Nothing was changed" in ask(operator, process, "hurry").text


def test_what_no_longer_fits_changes_nothing(operator):
    process = new_process()

    assert "Nothing was changed" in ask(operator, process, "cancel").text
    assert ask(operator, process, "explode").status_code == 404


def test_viewers_see_and_do_not_act(viewer):
    process = new_process("a")

    assert "Cancel its jobs" not in cards_of(viewer, process)
    assert ask(viewer, process, "cancel").status_code == 403
    assert ask(viewer, process, "cancel", "get").status_code == 403
    assert job("a").status == Status.QUEUED


def test_editors_see_no_process(client):
    assert log_in(client, "editors").get(LIST).status_code == 403


@pytest.mark.parametrize("id", ["x", "%00", "00000000-0000-0000-0000-000000000000"])
def test_a_forged_id_is_no_error_of_ours(operator, id):
    assert operator.get(f"{LIST}{id}/change/").headers["Location"] == reverse("admin:index")
    assert operator.post(f"{LIST}{id}/ask/cancel/").status_code == 404
