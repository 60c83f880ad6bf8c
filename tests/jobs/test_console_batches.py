"""The console's pages of batches, of LLM requests, and of jobs whose call is in a batch."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from jobs import queue
from jobs.console import batches, needs
from jobs.llm.models import LLMJob
from jobs.models import Provider, Status
from jobs.paid import limits
from jobs.paid.batches.models import Batch
from tests.jobs.batching import GEMINI, new_batch, new_member, new_process, submitted
from tests.jobs.conftest import new_chore
from tests.jobs.console import EVIL
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db

LIST = reverse("admin:jobs_batch_changelist")
CHORES = reverse("admin:testapp_chore_changelist")
REQUESTS = reverse("admin:jobs_llmjob_changelist")
FAILED = {"status": Status.FAILED, "finished_at": Now(), "last_error": "gone", "error_kind": "x"}
DONE = {"status": Status.SUCCEEDED, "finished_at": Now(), "ended_at": Now()}


def page_of(client, row, kind="batch"):
    page = client.get(reverse(f"admin:jobs_{kind}_change", args=[row.pk]))
    assert page.status_code == 200
    return page.text.partition("All columns")[0]


def ask(client, batch, name, method="post"):
    url = reverse("admin:jobs_batch_ask", args=[batch.pk, name])
    return getattr(client, method)(url, follow=True)


def queries(client, url):
    with CaptureQueriesContext(connection) as found:
        assert client.get(url).status_code == 200
    return len(found)


# Where it is


@pytest.mark.parametrize(
    ("columns", "stage"),
    [
        ({}, "collecting"),
        ({"collected_at": Now()}, "prepared"),
        ({"collected_at": Now(), "create_sent_at": Now()}, "uncertain"),
        ({"collected_at": Now(), "create_sent_at": Now(), "remote_id": "b"}, "submitted"),
        ({"collected_at": Now(), "remote_id": "b", "cancel_asked": True}, "canceling"),
        ({"collected_at": Now(), "remote_id": "b", "ended_at": Now()}, "fetching"),
        ({"collected_at": Now(), "remote_id": "b", **DONE}, "done"),
        ({"collected_at": Now(), "remote_id": "b", **FAILED}, "failed"),
    ],
)
def test_every_stage_has_its_own_words(operator, columns, stage):
    batch = new_batch(**columns)

    page = page_of(operator, batch)

    assert batches.stage(batch) == stage
    assert str(batches.MEANINGS[batches.Stage(stage)]) in page
    assert str(batches.Stage(stage).label) in operator.get(LIST).text
    assert "waits for its next retry" not in page
    assert "waits for its turn" not in page


def test_a_batch_tells_its_numbers_its_money_and_its_names(operator):
    batch = submitted(booked=Decimal("0.20"), failed=1)
    new_member(new_chore("a"), batch, state="stored", cost=Decimal("0.015"))
    new_member(new_chore("b"), batch, error=EVIL)

    page = page_of(operator, batch)

    for text in ("IN_PROGRESS", "batches/1", batch.token, "4 / 10 (50 %)", "0.20 USD", "0.015 USD"):
        assert text in page
    assert "<script>alert" not in page
    for job in Chore.objects.all():
        assert reverse("admin:testapp_chore_change", args=[job.id]) in page


def test_its_calls_are_a_filtered_list(operator):
    batch = submitted()
    mine = new_member(new_chore("a"), batch)
    foreign = new_member(new_chore("b"), state="waiting")
    calls = reverse("admin:jobs_call_changelist")

    page = operator.get(f"{calls}?batch={batch.pk}").text

    assert str(mine.job_id) in page
    assert str(foreign.job_id) not in page
    assert operator.get(f"{calls}?batch=x", follow=True).status_code == 200


def test_the_list_needs_no_query_per_row(operator):
    for _ in range(2):
        new_member(new_chore(f"a{_}"), submitted())
    few = queries(operator, LIST)
    for n in range(5):
        new_member(new_chore(f"b{n}"), submitted())

    assert queries(operator, LIST) == few


# What people do


def test_cancel_asks_first(operator):
    batch = submitted()

    assert (
        "What it has finished is paid for, and used." in ask(operator, batch, "cancel", "get").text
    )
    assert not Batch.objects.get().cancel_asked
    page = ask(operator, batch, "cancel").text

    assert Batch.objects.get().cancel_asked
    assert "Asked to cancel it at the provider." in page


def test_look_now_makes_it_due(operator):
    batch = submitted()

    ask(operator, batch, "look")

    assert Batch.objects.due().exists()


def test_only_calls_that_were_not_sent_are_made_at_once(operator, monkeypatch):
    sent = submitted()
    new_member(new_chore("a"), sent)
    collecting = new_batch()
    waits = new_member(new_chore("b"), state="waiting")
    new_member(new_chore("c"), state="waiting", provider="another")
    hurried = []
    hurry = "jobs.paid.batches.asked.hurry"
    monkeypatch.setattr(hurry, lambda calls, by: hurried.extend(calls) or len(hurried))

    assert "Nothing was changed" in ask(operator, sent, "hurry").text
    ask(operator, collecting, "hurry")

    assert hurried == [waits]


def test_viewers_do_not_act(viewer):
    batch = submitted()

    assert "Look now" not in page_of(viewer, batch)
    for name in ("cancel", "look", "hurry"):
        assert ask(viewer, batch, name).status_code == 403
    assert not Batch.objects.get().cancel_asked


def test_a_failed_batch_can_be_requeued(operator):
    batch = submitted(**FAILED)

    operator.post(reverse("admin:jobs_batch_act", args=[batch.pk, "requeue"]))

    batch.refresh_from_db()
    assert (batch.status, batch.remote_id) == (Status.QUEUED, "batches/1")


def test_the_generic_cancel_leaves_batches_alone_and_names_the_right_action(operator, capsys):
    batch = submitted()

    assert (
        operator.post(reverse("admin:jobs_batch_act", args=[batch.pk, "cancel"])).status_code == 404
    )
    with pytest.raises(SystemExit):
        call_command("jobs", "cancel", str(batch.pk))

    told = capsys.readouterr().out
    assert "changed 0, left alone 1" in told
    assert "Cancel at the provider" in told
    batch.refresh_from_db()
    assert batch.status == Status.QUEUED


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

    page = page_of(operator, request_job, "llmjob")

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

    page = page_of(operator, request_job, "llmjob")

    assert "and 30000 more letters" in page
    assert "x" * 20_001 not in page


# What needs a person


def needed():
    return [need.kind for need in needs.needs(needs.Situation.look())]


def test_a_batch_that_takes_too_long_needs_a_person(operator):
    submitted()
    assert "old_batch" not in needed()

    late = submitted(timedelta(hours=27), remote_id="batches/late")

    assert "old_batch" in needed()
    assert "batches/late" in operator.get(f"{LIST}?stage=old").text
    assert "batches/1" not in operator.get(f"{LIST}?stage=old").text
    assert "longer than 26 hours" in page_of(operator, late)


def test_a_failed_batch_needs_a_person():
    submitted(**FAILED)

    assert "failed" in needed()


def test_a_provider_without_batches_is_a_hint_and_no_need(monkeypatch, operator):
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: GEMINI))
    limits.find(GEMINI)
    facts = {"strategy": "batch", "batch_note": "404 from the server", "price": 1}
    Provider.objects.filter(name=GEMINI).update(**facts)

    situation = needs.Situation.look()

    [hint] = needs.hints(situation)
    assert "404 from the server" in hint.text
    assert "no_batches" not in needed()
    assert "404 from the server" in operator.get(reverse("admin:index")).text


# Providers


def provider_page(client, name):
    limits.find(name)
    return client.get(reverse("admin:jobs_provider_change", args=[name.replace(":", "_3A")])).text


def test_the_strategy_of_a_provider_with_batches_is_editable(operator):
    page = provider_page(operator, GEMINI)

    assert '<select name="strategy"' in page
    assert "50 % of the price" in page
    assert 'name="batch_percent"' not in page  # money is for superusers


def test_an_operator_chooses_the_strategy_and_it_is_logged(operator):
    limits.find(GEMINI)
    url = reverse("admin:jobs_provider_change", args=[GEMINI.replace(":", "_3A")])
    limits_form = {"requests_per_minute": 15, "burst": 5, "max_running": "", "timeout": 25}
    shown = {"initial-strategy": "sync", "batch_percent": 1, "input_price": 0}

    operator.post(url, {**limits_form, **shown, "strategy": "batch"})

    row = Provider.objects.get(name=GEMINI)
    assert (row.strategy, row.batch_percent) == ("batch", 50)
    assert "strategy: sync → batch" in operator.get(url).text


def test_a_provider_without_batches_says_so(operator):
    page = provider_page(operator, "painter")

    assert '<select name="strategy"' not in page
    assert "This provider has no batches" in page


# The command


def test_the_command_lists_and_shows_batches(capsys):
    batch = submitted()

    call_command("jobs", "batches")
    call_command("jobs", "batches", str(batch.pk))

    told = capsys.readouterr().out
    assert f"{batch.pk}  submitted    40 % of 10" in told
    assert "remote_id: batches/1" in told


def test_the_command_lists_and_shows_processes(capsys):
    process = new_process("a", "b")
    queue.cancel(Chore.objects.filter(name="a"))

    call_command("jobs", "processes")
    call_command("jobs", "processes", str(process.pk))

    told = capsys.readouterr().out
    assert f"{process.pk}   50 %  1/2" in told
    assert "waits_for: its jobs wait for their turn" in told


@pytest.mark.parametrize("what", ["processes", "batches"])
def test_an_unknown_id_is_told(what):
    with pytest.raises(CommandError, match="There is no"):
        call_command("jobs", what, "0198c0de-7a31-7c6e-8a53-1f0e4d2b9a77")
    with pytest.raises(CommandError, match="is not the id of a"):
        call_command("jobs", what, "x")
