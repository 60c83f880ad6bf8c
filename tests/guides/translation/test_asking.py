"""Only what is missing or has changed is asked for, and nothing twice."""

import threading

import pytest
from django.db import connection, transaction

from guides import services
from guides.derived.models import Commission, Version
from guides.models import Guide, SpotDetail
from guides.translation import asking, following
from guides.translation.models import GuideTranslation, State
from jobs.llm.models import LLMJob
from jobs.models import Process
from tests.guides.translation.translating import (
    JAPANESE,
    TEXTS,
    answer,
    follow,
    rows,
    save_kyoto,
    texts,
    translate,
    work,
)
from tests.guides.withdrawing import withdraw

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_guide_is_translated_text_by_text_and_its_original_stays(translator):
    save_kyoto()
    before = list(Guide.objects.values()), list(SpotDetail.objects.values())

    assert translate() == TEXTS

    assert sorted(translator.sent) == sorted(JAPANESE)
    assert sorted(texts().values()) == sorted(JAPANESE.values())
    assert texts()["Gate description"] == "それは赤いです。"
    assert (list(Guide.objects.values()), list(SpotDetail.objects.values())) == before
    assert Process.objects.count() == 1
    assert not LLMJob.objects.exists()
    assert Commission.objects.get().requests == TEXTS
    assert Version.objects.get(unit="translation:ja:kyoto:title").payload == {"text": "京都"}


def test_the_same_guide_again_asks_nothing(translator):
    save_kyoto()
    translate()

    assert translate() == 0
    assert len(translator.sent) == TEXTS


def test_only_changed_texts_are_asked_for_again(translator):
    save_kyoto()
    translate()
    translator.sent.clear()
    SpotDetail.objects.filter(spot_name="Gate").update(description="It is blue.")
    Guide.objects.update(title="Kyoto again")

    assert translate() == 2
    assert sorted(translator.sent) == ["It is blue.", "Kyoto again"]


def test_what_is_under_way_is_not_asked_for_twice(translator):
    save_kyoto()
    asking.ask("kyoto", "ja", by="mika")

    assert asking.ask("kyoto", "ja", by="yuki") == 0
    assert asking.ask("kyoto", "ja") == 0
    answer()
    assert len(translator.sent) == TEXTS


@pytest.mark.postgres
def test_two_presses_at_once_ask_once(translator):
    save_kyoto()
    asked = []
    together = threading.Barrier(4)

    def press():
        together.wait(60)
        with transaction.atomic():
            asked.append(asking.ask("kyoto", "ja", by="mika"))
        connection.close()

    threads = [threading.Thread(target=press) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(asked) == [0, 0, 0, TEXTS]
    assert LLMJob.objects.count() == TEXTS
    assert Process.objects.count() == 1


def test_a_text_that_changes_while_it_is_under_way_is_asked_for_anew(translator):
    save_kyoto()
    asking.ask("kyoto", "ja", by="mika")
    SpotDetail.objects.filter(spot_name="Gate").update(spot_name="Wall")
    translator.answers = {"Wall": "壁"}

    assert asking.ask("kyoto", "ja", by="mika") == 1
    answer()
    assert texts()["Wall name"] == "壁"
    assert {row.state for row in rows().values()} == {State.IDLE}


def test_an_old_answer_does_not_replace_the_one_that_was_asked_for_later(translator):
    save_kyoto()
    asking.ask("kyoto", "ja", by="mika")
    work(LLMJob)  # answered, and not kept yet
    SpotDetail.objects.filter(spot_name="Gate").update(spot_name="Wall")
    translator.answers = {"Wall": "壁"}
    asking.ask("kyoto", "ja", by="mika")
    answer()

    assert texts()["Wall name"] == "壁"


def test_the_translations_of_a_removed_spot_go_with_the_next_request(translator):
    save_kyoto()
    translate()
    SpotDetail.objects.filter(spot_name="Pond").delete()

    assert translate() == 0
    assert GuideTranslation.objects.count() == TEXTS - 2


@pytest.mark.parametrize("language", ["en", "fr", "", "JA"])
def test_only_other_languages_of_the_site_are_asked_for(translator, language):
    save_kyoto()

    assert asking.ask("kyoto", language, by="mika") == 0


def test_texts_that_are_empty_are_not_asked_for(translator):
    services.save_guide(Guide(plan_id="kyoto", title="Kyoto"), [SpotDetail(spot_name="Gate")])

    assert translate() == 2


# By itself


def test_a_saved_guide_is_translated_by_itself_where_the_site_wants_that(translator, settings):
    settings.TRANSLATE_GUIDES = True
    save_kyoto()

    follow()
    answer()

    assert len(texts()) == TEXTS


def test_without_the_setting_nothing_follows(translator):
    save_kyoto()

    follow()

    assert not LLMJob.objects.exists()
    assert not following.TranslateGuide.objects.exists()


def test_ten_saves_ask_once(translator, settings):
    settings.TRANSLATE_GUIDES = True
    kyoto = save_kyoto()
    for _ in range(9):
        services.note_saved(kyoto, "updated")

    follow()
    answer()

    assert following.TranslateGuide.objects.count() == 1
    assert len(translator.sent) == TEXTS


def test_what_failed_is_asked_for_again_by_a_person_and_not_by_itself(translator, settings):
    settings.TRANSLATE_GUIDES = True
    save_kyoto()
    translator.answers = {"Gate": "Gate"}
    translate()
    translator.answers = {}

    follow()
    assert not LLMJob.objects.exists()
    assert translate() == 1
    assert texts()["Gate name"] == "門"


# Gone or withdrawn meanwhile


def test_a_withdrawn_guide_is_not_translated(translator):
    save_kyoto()
    withdraw()

    assert asking.ask("kyoto", "ja", by="mika") == 0


def test_a_withdrawal_stops_what_is_not_answered_and_it_is_asked_for_when_the_guide_is_back(
    translator, settings
):
    settings.TRANSLATE_GUIDES = True
    save_kyoto()
    asking.ask("kyoto", "ja", by="mika")

    withdraw()
    answer()
    assert translator.sent == []
    assert {row.state for row in rows().values()} == {State.IDLE}

    services.publish_guides(Guide.objects.all())
    follow()
    answer()
    assert len(translator.sent) == TEXTS
    assert all(texts().values())


def test_a_deleted_guide_stops_its_translations(translator):
    save_kyoto()
    asking.ask("kyoto", "ja", by="mika")

    Guide.objects.get().delete()
    answer()

    assert translator.sent == []
    assert not LLMJob.objects.exists()
    assert not GuideTranslation.objects.exists()


def test_answers_for_a_deleted_guide_do_not_reach_the_one_that_is_made_anew(translator):
    save_kyoto()
    asking.ask("kyoto", "ja", by="mika")
    work(LLMJob)
    Guide.objects.get().delete()
    save_kyoto()

    answer()

    assert texts() == {}
    assert not LLMJob.objects.exists()


def test_a_spot_that_is_deleted_meanwhile_does_no_harm(translator):
    save_kyoto()
    asking.ask("kyoto", "ja", by="mika")
    SpotDetail.objects.filter(spot_name="Pond").delete()

    answer()

    assert texts()["Gate name"] == "門"
    assert not LLMJob.objects.exists()
