"""Summaries of topics in the console: read, corrected, and asked for anew."""

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from guides.derived.models import Version
from guides.models import Guide
from guides.topics.models import TopicSummary
from jobs.models import Provider
from tests.guides.topics.making import ENGLISH, save, texts, work
from tests.jobs.console.pages import log_in

pytestmark = pytest.mark.django_db(transaction=True)
LIST = reverse("admin:guides_topicsummary_changelist")


@pytest.fixture
def summary(teller):
    save("kyoto", ["temple"])
    work()
    return TopicSummary.objects.get(language="en")


def page_of(summary):
    return reverse("admin:guides_topicsummary_change", args=[summary.pk])


def refresh_of(summary):
    return reverse("admin:guides_topicsummary_ask", args=[summary.pk, "refresh"])


def test_operators_see_texts_and_their_versions(operator, summary):
    page = operator.get(page_of(summary))

    assert ENGLISH in operator.get(LIST).text
    assert ENGLISH in page.text
    assert "teller" in page.text
    assert 'href="/topics/temple/"' in page.text


def test_every_page_of_the_console_leads_to_the_summaries(operator):
    assert f'href="{LIST}"' in operator.get(reverse("admin:index")).text


def test_a_topic_is_found_by_its_name(operator, summary):
    assert ENGLISH in operator.get(LIST, {"q": "TEMPLE"}).text
    assert ENGLISH not in operator.get(LIST, {"q": "lake"}).text


def test_a_new_text_is_asked_for_after_its_price_was_told(operator, summary, teller):
    teller.answers["en"] = '{"summary": "Another one."}'

    asked = operator.get(refresh_of(summary))
    operator.post(refresh_of(summary))
    work()

    assert "It costs nothing." in asked.text
    assert texts()["en"] == "Another one."
    assert LogEntry.objects.filter(change_message__contains="Asked for a new text").exists()


def test_two_presses_buy_one_answer(operator, summary, teller):
    operator.post(refresh_of(summary))

    page = operator.post(refresh_of(summary), follow=True)
    work()

    assert "temple is being summed up already" in page.text
    assert len(teller.asked) == 4  # two languages, at first and now


def test_the_price_of_a_paid_provider_is_told(operator, summary, teller):
    teller.is_free = False
    Provider.objects.update(price=0, input_price=1, output_price=10)

    page = operator.get(refresh_of(summary))

    assert "It costs at most about" in page.text
    assert "USD" in page.text


def test_nothing_is_asked_for_a_topic_without_guides(operator, summary, teller):
    Guide.objects.all().delete()

    page = operator.post(refresh_of(summary), follow=True)

    assert "no published guide has this topic" in page.text
    assert len(teller.asked) == 2


def test_editors_correct_a_text_and_it_becomes_a_version(client, summary):
    editor = log_in(client, "editors")

    editor.post(page_of(summary), {"text": "Better words."})

    summary.refresh_from_db()
    assert summary.text == "Better words."
    assert summary.corrected_at
    made = Version.objects.filter(unit="topic:en:temple").latest("version")
    assert made.payload == {"text": "Better words."}
    assert made.made_by != "teller"


def test_a_form_that_changes_nothing_makes_no_correction(client, summary):
    editor = log_in(client, "editors")

    editor.post(page_of(summary), {"text": ENGLISH})

    summary.refresh_from_db()
    assert summary.corrected_at is None


def test_viewers_change_nothing(viewer, summary):
    assert viewer.get(page_of(summary)).status_code == 200
    assert viewer.post(page_of(summary), {"text": "Mine."}).status_code == 403
    assert viewer.get(refresh_of(summary)).status_code == 403
    assert viewer.post(refresh_of(summary)).status_code == 403
    summary.refresh_from_db()
    assert summary.text == ENGLISH
