"""What the console says about workers, calls, money, providers and causes is true."""

import inspect
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib import admin
from django.db.models.functions import Now
from django.urls import reverse

from jobs import errors, queue
from jobs.admin.workers import condition
from jobs.console import causes, figures, needs
from jobs.models import Provider, State, Status, Worker
from jobs.paid import limits, money, pausing
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import in_state, new_call, new_worker, page_of
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


# Workers


@pytest.mark.parametrize(
    ("beat", "told"), [(0, "alive"), (10, "alive"), (34, "late"), (70, "silent")]
)
def test_a_worker_is_late_after_two_missed_beats(beat, told):
    new_worker(beat)

    [worker] = Worker.objects.with_now()
    assert condition(worker) == told
    assert figures.fleet().late == (told == "late")


def test_a_workers_jobs_are_counted_by_what_it_holds(admin_client):
    new_worker(5)
    in_state(Status.PROCESSING, *"abcdefg")
    Chore.objects.update(locked_by="w")

    [shown] = Worker.objects.with_now()
    page = admin.site._registry[Worker]
    page.adorn([shown])

    assert page.busy(shown) == "7 / 8"
    assert "<td>7 / 8</td>" in admin_client.get(reverse("admin:console")).text


# Calls


def test_a_call_has_one_duration(admin_client, chore):
    started_at = Now() - timedelta(minutes=5)
    new_call(
        chore,
        state=State.UNKNOWN,
        started_at=started_at,
        deadline=started_at + timedelta(seconds=25),
        finished_at=started_at + timedelta(seconds=62.8),
    )

    job, calls = page_of(admin_client, chore), admin_client.get("/admin/jobs/call/").text

    assert "≤ 25.0 s" in job
    assert "≤ 25.0 s" in calls
    assert "62.8" not in job + calls


def test_only_a_call_that_needs_a_person_asks_to_be_looked_into(admin_client, chore):
    for state in State:
        new_call(chore, state=state)
    new_call(chore, state=State.UNKNOWN, seen=True)

    page = admin_client.get("/admin/jobs/call/").text

    assert page.count("not yet") == 1
    assert "field-seen" not in page


@pytest.fixture
def painter(monkeypatch):
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: "painter"))
    monkeypatch.setattr(Chore, "provider_is_free", classmethod(lambda cls: True))
    return limits.find("painter")


def test_a_free_call_was_never_paid_for(admin_client, painter, chore, monkeypatch, alive):
    new_call(chore, provider="painter", state=State.UNKNOWN)
    dear = new_call(chore, provider="dear", state=State.UNKNOWN)
    assert figures.unknown_calls() == 1

    monkeypatch.undo()  # as if another provider had been chosen: the painter stays free
    assert figures.unknown_calls() == 1
    unseen = admin_client.get("/admin/jobs/call/?seen=no").context["cl"].result_list
    assert [call.pk for call in unseen] == [dear.pk]


def test_times_have_seconds_and_money_its_currency(admin_client, chore, settings):
    settings.CURRENCY = "EUR"
    call = new_call(chore, cost="0.0395")

    page, calls = page_of(admin_client, chore), admin_client.get("/admin/jobs/call/").text

    for text in (page, calls):
        assert f"{call.started_at:%Y-%m-%d %H:%M:%S}" in text
        assert "0.0395 EUR" in text
    assert f"{chore.created_at:%Y-%m-%d %H:%M:%S}" in page
    started = f"{call.started_at:%Y-%m-%d %H:%M:%S}"
    assert started in admin_client.get(f"/admin/jobs/call/{call.pk}/change/").text


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [("5", "USD", "5.00 USD"), ("0.004", "USD", "0.004 USD"), ("1500", "JPY", "1,500 JPY")],
)
def test_money_is_written_one_way(settings, amount, currency, shown):
    settings.CURRENCY = currency

    assert money.shown(Decimal(amount)) == shown


def test_a_new_job_is_seconds_old():
    rows = [new_chore("a")]
    page = admin.site._registry[Chore]
    page.adorn(rows)

    assert re.fullmatch(r"\d+ s", page.age(rows[0]))


# Providers


@pytest.fixture
def dear(monkeypatch):
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: "dear"))
    limits.find("dear")
    Provider.objects.update(price=1)


def labels(client):
    """The colours and texts of the provider's label: dashboard, list and page."""
    pages = ["/admin/", "/admin/jobs/provider/", "/admin/jobs/provider/dear/change/"]
    return [client.get(page).text for page in pages]


def test_a_reached_rate_limit_is_everyday_work(admin_client, dear):
    Provider.objects.update(full_at=Now() + timedelta(minutes=1), requests_per_minute=1, burst=1)

    dashboard, listed, page = labels(admin_client)

    for text in (dashboard, page):
        assert 'tc-label tc-is-info">the provider&#x27;s requests per minute are used' in text
    assert "text-blue-700" in listed.partition("requests per minute are used")[0][-600:]


def test_a_provider_that_no_job_uses_alarms_nobody(admin_client, alive):
    pausing.pause("dear", "no money")

    assert needs.needs(needs.Situation.look()) == []
    for text in labels(admin_client):
        assert "not in use (the provider is paused)" in text


# Causes


def test_every_error_has_words():
    named = {name for name, _ in inspect.getmembers(errors, inspect.isclass)}

    assert named <= set(causes.WORDS)


def test_a_cause_is_told_in_words_before_its_message(admin_client, worker, chore):
    name = "calls/" + "0a" * 32 + "/1"
    why = f"{name} could not be stored: the disk is full. " + "x" * 100
    Chore.objects.update(
        status=Status.FAILED, finished_at=Now(), error_kind="StorageRefused", last_error=why
    )

    listed = admin_client.get("/admin/testapp/chore/?status__exact=failed").text

    told = "calls/0a0a0a0a…/1 could not be stored: the disk is full."
    assert f"storage refuses access – {told}" in listed
    assert '<b title="StorageRefused">storage refuses access</b>' in listed
    assert "0a" * 32 not in listed


@pytest.mark.parametrize(
    ("kind", "told"),
    [("ValueError", "unexpected error (ValueError)"), ("no water", "no water"), (None, "")],
)
def test_a_class_name_is_no_cause(kind, told):
    assert causes.words(kind, Chore) == told


def test_a_requeue_is_seen_although_the_job_was_canceled_before_any_run():
    job = new_chore("a")
    queue.cancel(Chore.objects.all())
    queue.requeue(Chore.objects.all())
    job.refresh_from_db()

    assert causes.is_past(job, [])
