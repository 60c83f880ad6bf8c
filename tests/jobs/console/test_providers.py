"""Providers: which users may change what, and what a change leaves alone."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.admin.utils import quote
from django.db import OperationalError
from django.db.models.functions import Now
from django.urls import reverse

from jobs.models import Provider
from jobs.paid import limits

pytestmark = pytest.mark.django_db(transaction=True)

NAME = "gemini:flash"
EDIT = reverse("admin:jobs_provider_change", args=[quote(NAME)])
PAUSE = reverse("admin:jobs_provider_pause", args=[quote(NAME)])
RESUME = reverse("admin:jobs_provider_resume", args=[quote(NAME)])
FORM = {"requests_per_minute": 15, "burst": 5, "max_running": "", "timeout": 25}
MONEY = {"price": "0", "daily_budget": ""}


@pytest.fixture
def provider():
    return limits.find(NAME)


def row():
    return Provider.objects.with_now().get()


# Pause and resume


def test_a_pause_with_reason_and_end_holds_for_everybody(operator, provider):
    page = operator.post(PAUSE, {"reason": "bill unpaid", "until": "2099-01-01T12:00"}, follow=True)

    assert row().is_paused
    assert (row().pause_reason, row().paused_until.year) == ("bill unpaid", 2099)
    assert "bill unpaid" in page.text
    assert LogEntry.objects.get().change_message.startswith("Paused until 2099")


def test_one_click_pauses_and_one_click_resumes(operator, provider):
    operator.post(PAUSE, {"from": "dashboard"})
    assert (row().paused, row().pause_reason) == (True, "Paused by operators.")

    answer = operator.post(RESUME, {"from": "dashboard"})

    assert not row().is_paused
    assert answer.url == reverse("admin:index")
    assert LogEntry.objects.count() == 2


def test_a_pause_that_is_over_already_is_refused(operator, provider):
    page = operator.post(PAUSE, {"until": "2001-01-01T12:00"}, follow=True)

    assert not row().is_paused
    assert "The end of the pause is in the past." in page.text


@pytest.mark.parametrize("url", [PAUSE, RESUME])
def test_a_viewer_neither_pauses_nor_resumes(viewer, provider, url):
    assert viewer.post(url).status_code == 403
    assert viewer.get(url).status_code == 405
    assert not row().is_paused


def test_an_automatic_pause_can_be_made_one_that_lasts(operator, provider):
    Provider.objects.update(paused_until=Now() + timedelta(minutes=5), pause_reason="429")

    page = operator.get(EDIT).text

    assert PAUSE in page
    assert RESUME in page
    operator.post(PAUSE, {"reason": "bill unpaid"})
    assert (row().paused, row().pause_reason) == (True, "bill unpaid")
    assert PAUSE not in operator.get(EDIT).text


@pytest.mark.parametrize("longer", [{"paused": True}, {"paused_until": "2099-06-01T00:00Z"}])
def test_a_pause_is_not_shortened_by_another(operator, provider, longer):
    Provider.objects.update(pause_reason="bill unpaid", **longer)
    before = row()

    page = operator.post(PAUSE, {"reason": "lunch", "until": "2099-01-01T12:00"}, follow=True)

    after = row()
    assert (after.paused, after.paused_until) == (before.paused, before.paused_until)
    assert after.pause_reason == "bill unpaid"
    assert "already has a longer pause" in page.text
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize("url", [PAUSE, RESUME])
def test_what_can_not_be_written_down_is_not_done(operator, provider, monkeypatch, url):
    Provider.objects.update(paused=url == RESUME)
    break_the_log(monkeypatch)

    with pytest.raises(OperationalError):
        operator.post(url)

    assert row().paused == (url == RESUME)


def break_the_log(monkeypatch):
    def fail(*args):
        raise OperationalError("no space left")

    monkeypatch.setattr("jobs.console.audit.note", fail)


# Limits and money


def shown(page):
    """The form data of a page without any edit."""
    form = page.context["adminform"].form
    fields = {name: form[name].value() for name in form.fields}
    initial = {form[name].html_initial_name: value for name, value in fields.items()}
    data = {name: "" if value is None else value for name, value in {**fields, **initial}.items()}
    assert all(f'name="{name}"' in page.text for name in data)
    return data


def test_a_form_that_was_open_for_long_takes_nothing_back(admin_client, provider):
    stale = shown(admin_client.get(EDIT))
    Provider.objects.update(daily_budget=10, price=Decimal("0.04"), max_running=3)

    admin_client.post(EDIT, {**stale, "burst": 9})

    assert (row().burst, row().daily_budget, row().price) == (9, 10, Decimal("0.04"))
    assert row().max_running == 3
    assert LogEntry.objects.get().get_change_message() == "burst: 5 → 9"


def test_the_log_tells_what_the_money_was_before(admin_client, provider):
    form = shown(admin_client.get(EDIT))

    admin_client.post(EDIT, {**form, "price": "0.04", "daily_budget": "10"})

    told = LogEntry.objects.get().get_change_message()
    assert told == "price: 0.0000 → 0.04, daily_budget: 5.0000 → 10"


def test_an_operator_edits_limits_and_no_money(operator, provider):
    operator.post(EDIT, {**FORM, "burst": 9, "price": "7", "daily_budget": "1"})

    assert (row().burst, row().price, row().daily_budget) == (9, 0, 5)


def test_a_budget_without_a_price_says_that_nothing_starts(admin_client, provider):
    page = admin_client.post(EDIT, {**FORM, "price": "0", "daily_budget": "10"}, follow=True).text
    assert "has a budget but no price: no call starts until its price is set" in page

    page = admin_client.get(EDIT).text
    assert "the provider&#x27;s price is not set" in page
    assert "without a price, the budget limits nothing" in page

    page = admin_client.post(EDIT, {**FORM, "price": "0.04", "daily_budget": "10"}, follow=True)
    assert "no price" not in page.text


def test_a_superuser_edits_money(admin_client, provider):
    admin_client.post(EDIT, {**FORM, "price": "0.04", "daily_budget": "10"})

    assert (row().price, row().daily_budget) == (Decimal("0.04"), 10)


def test_a_viewer_edits_nothing(viewer, provider):
    assert viewer.post(EDIT, {**FORM, "burst": 9}).status_code == 403
    assert row().burst == 5


def test_what_was_spent_while_the_form_was_open_stays_spent(admin_client, provider, monkeypatch):
    """A call is made between reading the row and writing it."""
    clean = Provider.full_clean

    def spend_meanwhile(self, *args, **kwargs):
        Provider.objects.update(spent=5, faults=2, paused=True)
        return clean(self, *args, **kwargs)

    monkeypatch.setattr(Provider, "full_clean", spend_meanwhile)

    admin_client.post(EDIT, {**FORM, **MONEY, "burst": 9})

    assert (row().burst, row().spent, row().faults, row().paused) == (9, 5, 2, True)


@pytest.mark.parametrize("nonsense", [{"burst": 0}, {"timeout": ""}, {"requests_per_minute": "x"}])
def test_nonsense_is_explained_and_not_saved(operator, provider, nonsense):
    page = operator.post(EDIT, {**FORM, **nonsense})

    assert page.status_code == 200
    assert (row().burst, row().timeout) == (5, 25)
