"""Sentences about what people did: stored in English, shown in the reader's language."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from django.utils import translation

from guides.models import SpotImageJob
from jobs.console import sentences
from jobs.paid import limits
from tests.guides.conftest import save_guide

pytestmark = pytest.mark.django_db

JAPANESE = {"Accept-Language": "ja"}


def test_sentences_of_the_console_are_stored_in_english_and_shown_in_japanese(operator, painted):
    def page(name, row):
        address = reverse(f"admin:{name}_change", args=[row.pk])
        return operator.get(address, headers=JAPANESE).text.partition("すべての列")[0]

    save_guide("池", plan_id="nara")
    pond = SpotImageJob.objects.get(spot_name="池")
    provider = limits.find("painter")
    for name, *values in (
        ("guides_spotimagejob_act", pond.pk, "cancel"),
        ("guides_spotdetail_use", painted.pk, 1),
        ("jobs_provider_pause", "painter"),
    ):
        operator.post(reverse(f"admin:{name}", args=values), headers=JAPANESE)

    pond.refresh_from_db()
    assert pond.last_error == "Canceled by operators."
    assert limits.find("painter").pause_reason == "Paused by operators."
    assert list(LogEntry.objects.order_by("id").values_list("change_message", flat=True)) == [
        "Canceled.",
        "Shows version 1 again.",
        "Paused until resumed: Paused by operators.",
    ]
    assert "operators が取り消しました。" in page("guides_spotimagejob", pond)
    assert "版 1 を再び表示しました。" in page("guides_spotdetail", painted)
    assert "再開するまで停止: operators が停止しました。" in page("jobs_provider", provider)
    for shown in (
        page("guides_spotimagejob", pond),
        page("guides_spotdetail", painted),
        page("jobs_provider", provider),
        operator.get(reverse("admin:index"), headers=JAPANESE).text,
    ):
        assert not re.findall("Canceled|Shows version|Paused", shown)


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("Canceled by name.", "name が取り消しました。"),  # not the word, but a person
        ("Paused until 2099-01-01: 100 %s", "2099-01-01 まで停止: 100 %s"),
        ("Its spot was deleted.", "スポットが削除されました。"),
        ("no broom", "no broom"),
        ("", ""),
    ],
)
def test_only_our_own_words_are_translated(stored, shown):
    with translation.override("ja"):
        assert sentences.told(stored) == shown


def test_a_text_that_is_longer_than_any_sentence_is_shown_as_it_is():
    sentence, text = (sentences.paused(None, "x" * length) for length in (500, 600))

    with translation.override("ja"):
        assert sentences.told(sentence) != sentence
        assert sentences.told(text) == text
