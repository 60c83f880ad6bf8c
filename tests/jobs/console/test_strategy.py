"""How an operator chooses whether a provider's calls are made in batches."""

import pytest
from django.urls import reverse

from jobs.models import Provider
from jobs.paid import limits
from tests.jobs.batching import GEMINI, new_member, submitted
from tests.jobs.conftest import new_chore

pytestmark = pytest.mark.django_db


def provider_page(client, name):
    limits.find(name)
    return client.get(reverse("admin:jobs_provider_change", args=[name.replace(":", "_3A")])).text


def test_the_strategy_of_a_provider_with_batches_is_editable(operator):
    page = provider_page(operator, GEMINI)

    assert '<select name="strategy"' in page
    assert "50 % of the price" in page
    assert "Calls that still wait for a batch are made at once, at full price" in page
    assert 'name="batch_percent"' not in page  # money is for superusers


URL = reverse("admin:jobs_provider_change", args=[GEMINI.replace(":", "_3A")])


def choose(client, old, new):
    limits_form = {"requests_per_minute": 15, "burst": 5, "max_running": "", "timeout": 25}
    shown = {"initial-strategy": old, "batch_percent": 1, "input_price": 0}
    return client.post(URL, {**limits_form, **shown, "strategy": new}, follow=True).text


def test_an_operator_is_told_which_calls_are_made_at_once_now(operator):
    limits.find(GEMINI)
    Provider.objects.update(strategy="batch", price="0.04", output_price=1)
    for name in "ab":
        new_member(new_chore(name), state="waiting")
    new_member(new_chore("chosen by its job"), state="waiting", strategy="batch")
    new_member(new_chore("collected"), submitted(), state="waiting")

    page = choose(operator, "batch", "sync")

    assert "made at once now, at full price: 2, for about 0.08 USD plus tokens." in page
    assert "made at once now" not in choose(operator, "sync", "batch")


def test_an_operator_chooses_the_strategy_and_it_is_logged(operator):
    limits.find(GEMINI)

    choose(operator, "sync", "batch")

    row = Provider.objects.get(name=GEMINI)
    assert (row.strategy, row.batch_percent) == ("batch", 50)
    assert "strategy: sync → batch" in operator.get(URL).text


def test_batches_that_were_refused_once_are_tried_again_when_a_person_says_so(operator):
    limits.find(GEMINI)
    Provider.objects.update(batch_note="404 for /batches", strategy="sync")

    choose(operator, "sync", "batch")

    assert Provider.objects.get(name=GEMINI).batch_note == ""


def test_a_provider_without_batches_says_so(operator):
    page = provider_page(operator, "painter")

    assert '<select name="strategy"' not in page
    assert "This provider has no batches" in page


def test_calls_of_batches_do_not_count_as_calls_of_the_last_minute(operator):
    limits.find(GEMINI)
    new_member(new_chore("waits"), state="waiting")
    new_member(new_chore("sent"), submitted())
    new_member(new_chore("at once"))

    page = operator.get(reverse("admin:jobs_provider_changelist")).text

    assert "1 / 15" in page


def test_a_budget_that_covers_a_call_in_a_batch_is_no_lack():
    facts = {"price": 2, "daily_budget": 1, "batch_percent": 50}

    assert not Provider(**facts, strategy="batch").lacks_budget
    assert Provider(**facts, strategy="sync").lacks_budget
    assert Provider(**facts, strategy="batch", batch_note="404").lacks_budget
