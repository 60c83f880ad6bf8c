"""Staff ask for translations, see how far they are, and correct them."""

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from guides.derived import versions
from guides.derived.models import Version
from guides.models import Guide, SpotDetail
from guides.translation import asking
from guides.translation.models import GuideTranslation, State
from jobs.llm.models import LLMJob
from jobs.models import Provider
from tests.guides.forms import form
from tests.guides.translation.translating import TEXTS, answer, rows, save_kyoto, texts, translate
from tests.guides.withdrawing import withdraw
from tests.jobs.console.pages import log_in

pytestmark = pytest.mark.django_db(transaction=True)

GUIDE = reverse("admin:guides_guide_change", args=["kyoto"])
ASK = reverse("admin:guides_guide_translate", args=["kyoto", "ja"])
LOOK = reverse("admin:guides_guide_translations", args=["kyoto", "ja"])


@pytest.fixture
def staff(admin_client, translator):
    save_kyoto()
    return admin_client


def correction(row, text):
    address = reverse("admin:guides_guidetranslation_change", args=[row.pk])
    return address, {"text": text}


def correct(client, row, text):
    address, data = correction(row, text)
    seen = client.get(address).context["adminform"].form["seen"].value()
    return client.post(address, {**data, "seen": seen})


def test_the_guide_s_page_offers_the_translation(staff):
    page = staff.get(GUIDE).text

    assert "Translate into Japanese" in page
    assert f"0 of {TEXTS} texts" in page
    assert ASK in page


def test_asking_tells_first_how_many_texts_there_are_and_what_they_cost(staff):
    page = staff.get(ASK).text

    assert f"{TEXTS} of {TEXTS} texts are missing or have changed." in page
    assert "costs nothing" in page
    assert not LLMJob.objects.exists()


def test_the_price_of_a_paid_service_is_told(staff, translator):
    translator.is_free = False
    assert "is not set, so the cost is unknown" in staff.get(ASK).text
    prices = {"input_price": "10", "output_price": "20"}
    Provider.objects.filter(name="translator").update(**prices)

    assert "costs about" in staff.get(ASK).text


def test_a_press_asks_and_is_noted(staff):
    page = staff.post(ASK, follow=True).text

    assert f"{TEXTS} texts are on their way in Japanese." in page
    assert f"Under way: 0 of {TEXTS} answered" in page
    assert "Translate into Japanese" not in page
    assert LLMJob.objects.count() == TEXTS
    assert LogEntry.objects.get().change_message == f"Asked for {TEXTS} texts in ja."


def test_a_second_press_asks_nothing_and_says_so(staff):
    staff.post(ASK)

    page = staff.post(ASK, follow=True).text

    assert "Nothing was asked for" in page
    assert LLMJob.objects.count() == TEXTS


def test_what_is_outdated_or_failed_can_be_asked_for_again(staff, translator):
    translator.answers = {"Pond": "<b>Pond</b>"}
    translate()
    Guide.objects.update(title="Kyoto again")

    page = staff.get(GUIDE).text

    assert "1 outdated" in page
    assert "1 failed" in page
    assert "2 of 7 texts are missing or have changed." in staff.get(ASK).text
    assert "the answer was in another language" in staff.get(LOOK).text


def test_a_withdrawn_guide_is_not_translated(staff):
    withdraw()

    assert "it is not translated" in staff.get(ASK).text
    assert "the guide is withdrawn" in staff.post(ASK, follow=True).text


@pytest.mark.parametrize("code", ["en", "fr", "xx-yy"])
def test_other_languages_are_not_found(staff, code):
    for page in ("translate", "translations"):
        address = reverse(f"admin:guides_guide_{page}", args=["kyoto", code])
        assert staff.get(address).status_code == 404
    assert staff.get(ASK.replace("kyoto", "osaka")).status_code == 404


def test_whoever_may_only_look_can_not_ask(client, translator):
    save_kyoto()
    log_in(client, "viewers")

    assert client.get(GUIDE).status_code == 200
    assert "Translate into" not in client.get(GUIDE).text
    assert client.get(LOOK).status_code == 200
    assert client.get(ASK).status_code == client.post(ASK).status_code == 403
    assert not LLMJob.objects.exists()


# What a person corrects


def test_whoever_may_only_look_sees_a_translation(client, translator):
    save_kyoto()
    translate()
    row = GuideTranslation.objects.get(key="title")

    page = log_in(client, "viewers").get(correction(row, "")[0])

    assert page.status_code == 200
    assert row.text in page.text


def test_a_correction_is_shown_and_stays_until_its_source_changes(staff, translator):
    translate()

    answered = correct(staff, rows()["Gate name"], "大門")

    assert (answered.status_code, answered.headers["Location"]) == (302, LOOK)
    assert translate() == 0
    assert texts()["Gate name"] == "大門"
    assert rows()["Gate name"].made_by == "admin"
    SpotDetail.objects.filter(spot_name="Gate").update(spot_name="Wall")
    translator.answers = {"Wall": "壁"}
    assert translate() == 1
    assert texts()["Wall name"] == "壁"
    unit = rows()["Wall name"].unit
    kept = Version.objects.filter(unit=unit).order_by("version").values_list("payload", "made_by")
    assert [(each["text"], by) for each, by in kept] == [
        ("門", "translator"),
        ("大門", "admin"),
        ("壁", "translator"),
    ]


def test_the_original_beside_a_correction_is_escaped(staff):
    translate()
    SpotDetail.objects.update(description="<script>alert(1)</script>")
    row = rows()["Gate description"]

    for address in (LOOK, reverse("admin:guides_guidetranslation_change", args=[row.pk])):
        page = staff.get(address).text
        assert "&lt;script&gt;alert(1)" in page
        assert "<script>alert(1)" not in page


def test_a_correction_of_what_is_under_way_is_not_overwritten(staff, translator):
    translate()
    Guide.objects.update(title="Kyoto again")
    asking.ask("kyoto", "ja", by="mika")
    translator.answers = {"Kyoto again": "京都ふたたび"}

    correct(staff, rows()["title"], "また京都へ")
    answer()

    assert texts()["title"] == "また京都へ"
    assert versions.latest(rows()["title"].unit).payload == {"text": "京都ふたたび"}


def test_a_correction_counts_for_the_original_that_the_person_saw(staff, translator):
    translate()
    row = rows()["Gate name"]
    address, data = correction(row, "大門")
    seen = staff.get(address).context["adminform"].form["seen"].value()
    SpotDetail.objects.filter(spot_name="Gate").update(spot_name="Wall")

    staff.post(address, {**data, "seen": seen})

    assert asking.ask("kyoto", "ja", by="mika") == 1


@pytest.mark.few(2)
@pytest.mark.parametrize("text", ["", "  ", "長" * 300, "門\n門", "門\u202e"])
def test_a_correction_that_can_not_be_shown_is_refused(staff, text):
    translate()

    answered = correct(staff, rows()["Gate name"], text)

    assert answered.status_code == 200
    assert texts()["Gate name"] == "門"


def test_an_older_version_can_be_put_back(staff):
    translate()
    correct(staff, rows()["Gate name"], "大門")
    first = Version.objects.get(unit=rows()["Gate name"].unit, version=1)

    versions.put_back(first, by="mika")

    assert texts()["Gate name"] == "門"
    assert rows()["Gate name"].state == State.IDLE
    assert versions.latest(first.unit).made_by == "mika"


def test_putting_back_locks_the_guide_before_its_translation(staff):
    translate()
    version = Version.objects.filter(unit="translation:ja:kyoto:title").latest("version")

    with CaptureQueriesContext(connection) as queries:
        versions.put_back(version, by="mika")

    locks = [each["sql"] for each in queries if "UPDATE" in each["sql"].partition(" FOR ")[2]]
    assert 'FROM "guides"' in locks[0]
    assert 'FROM "guide_translations"' in locks[1]


@pytest.mark.parametrize("gone", [Guide, SpotDetail])
def test_a_version_of_a_text_that_is_gone_changes_nothing(staff, gone):
    translate()
    first = Version.objects.get(unit=rows()["Gate name"].unit)
    correct(staff, rows()["Gate name"], "大門")
    for row in gone.objects.all():
        row.delete()

    with pytest.raises(versions.CantPutBack):
        versions.put_back(first, by="mika")

    assert Version.objects.filter(unit=first.unit).count() == 2


def test_a_guide_is_deleted_with_its_translations(client, translator):
    kyoto = save_kyoto()
    translate()
    kyoto.refresh_from_db()
    user = log_in(client, "editors")

    assert user.post(GUIDE, form(kyoto)).status_code == 302
    assert GuideTranslation.objects.count() == TEXTS
