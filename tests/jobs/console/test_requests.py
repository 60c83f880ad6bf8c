"""LLM requests in the console, and jobs whose call is in a batch."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models.functions import Now, TruncDate
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from jobs import queue
from jobs.console import shown
from jobs.llm.models import LLMJob
from jobs.models import Call, Provider
from jobs.paid import limits
from jobs.paid.batches.models import Batch
from jobs.paid.batches.queries import usual_seconds
from tests.jobs.batching import GEMINI, new_member, new_process, submitted
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import EVIL
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db

CHORES = reverse("admin:testapp_chore_changelist")
REQUESTS = reverse("admin:jobs_llmjob_changelist")


def whole_page(client, row):
    page = client.get(reverse("admin:jobs_llmjob_change", args=[row.pk]))
    assert page.status_code == 200
    return page.text


def queries(client, url):
    with CaptureQueriesContext(connection) as found:
        assert client.get(url).status_code == 200
    return len(found)


# Jobs that wait for a batch


def test_a_job_says_since_when_it_is_in_a_batch(operator, capsys):
    new_member(new_chore("sweep"), submitted())
    job = Chore.objects.get()

    call_command("jobs", "show", str(job.id))
    call_command("jobs", "list", "--kind", "testapp.Chore")
    shown = capsys.readouterr().out

    assert shown.count("in a batch since") == 2
    for url in (CHORES, reverse("admin:testapp_chore_change", args=[job.id])):
        assert "usually done within" in operator.get(url).text


def test_what_counts_is_when_the_batch_was_sent(operator):
    asked = timezone.now() - timedelta(hours=9)
    call = new_member(new_chore("sweep"), submitted(timedelta(hours=3)))
    Call.objects.filter(pk=call.pk).update(started_at=asked)

    page = operator.get(CHORES).text

    assert shown.moment(Batch.objects.get().submitted_at) in page
    assert shown.moment(asked) not in page


def test_usually_means_most_of_the_batches_that_had_results():
    for hours in range(1, 11):
        submitted(timedelta(hours=hours), ended_at=Now(), file="results")
    for _ in range(10):  # refused after a second
        submitted(timedelta(seconds=1), ended_at=Now())

    assert usual_seconds(GEMINI) == pytest.approx(9 * 3600, abs=60)


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"paused": True}, "the provider is paused"),
        (
            {"price": 1, "daily_budget": 5, "spent": 5, "spent_on": TruncDate(Now())},
            "today&#x27;s budget is spent",
        ),
    ],
)
def test_a_job_says_what_holds_up_its_batch(operator, columns, why):
    new_member(new_chore("sweep"), state="waiting")
    limits.find(GEMINI)
    Provider.objects.filter(name=GEMINI).update(strategy="batch", **columns)

    page = operator.get(CHORES).text

    assert "waits for a batch since" in page
    assert f"{GEMINI}: {why}" in page


def test_a_budget_that_covers_a_call_in_a_batch_holds_up_none(operator):
    new_member(new_chore("sweep"), state="waiting")
    limits.find(GEMINI)
    Provider.objects.filter(name=GEMINI).update(price="0.04", daily_budget="0.02")

    page = operator.get(CHORES).text

    assert "waits for a batch since" in page
    assert "budget" not in page


def test_a_list_asks_once_for_the_batches_of_all_its_jobs(operator):
    for n in range(2):
        new_member(new_chore(f"a{n}"), submitted())
    few = queries(operator, CHORES)
    for n in range(6):
        new_member(new_chore(f"b{n}"), submitted())

    assert queries(operator, CHORES) == few


# LLM requests


@pytest.fixture
def request_job():
    process = new_process(sealed=False)
    facts = {"prompt": EVIL, "schema": {"type": "object"}}
    queue.enqueue([LLMJob(request_json=facts, process_id=process.id, position=2)])
    return LLMJob.objects.get()


def test_a_request_is_shown_readably_and_safely(operator, request_job):
    LLMJob.objects.update(response_json={"text": EVIL}, batch_job_id="batches/7")

    page = whole_page(operator, request_job)

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "batches/7" in page
    assert "IN_PROGRESS" in page


def test_the_list_of_requests_links_to_their_process(operator, request_job):
    page = operator.get(REQUESTS).text

    assert "#3" in page
    assert "PENDING" in page
    assert reverse("admin:jobs_process_change", args=[request_job.process_id]) in page
    assert "<script>alert" not in page


def test_a_very_long_request_is_cut(operator, request_job):
    LLMJob.objects.update(request_json={"prompt": "x" * 50_000})

    page = whole_page(operator, request_job)

    assert "and 30,000 more letters" in page
    assert "x" * 20_000 in page
    assert "x" * 20_001 not in page


def test_the_columns_of_a_call_leave_its_request_out(operator):
    call = new_member(new_chore("a"), state="waiting", request={"prompt": "x" * 50})

    page = operator.get(reverse("admin:jobs_call_change", args=[call.pk])).text

    assert call.key in page
    assert "x" * 50 not in page
