"""Staff ask again; what a person has edited stays theirs."""

import pytest
from django.urls import reverse

from guides.derived import versions
from guides.derived.models import Version
from guides.models import Guide, SpotDetail
from guides.writing import again
from jobs.llm.models import LLMJob
from tests.guides.writing.writers import (
    TEXT,
    answer,
    describe,
    keep,
    manuscript,
    names,
    outline,
    tell,
    wish,
    written,
)

pytestmark = pytest.mark.django_db

OTHER = "Steep streets and yellow trams, best before nine in the morning."


def ask(what):
    return again.ask_again("lisbon", what, by="mika")


def spot(name="Castle"):
    return SpotDetail.objects.get(spot_name=name)


def edit(name="Castle", text="My own words."):
    SpotDetail.objects.filter(spot_name=name).update(description=text)


def texts_of(name="Castle"):
    made = Version.objects.filter(unit=f"spot:{spot(name).pk}").order_by("version")
    return [version.payload["description"] for version in made]


def test_one_spot_is_written_again():
    written("Castle", "Tower")

    ask(f"spot:{spot().pk}")
    assert manuscript().state == "texts"
    describe(OTHER)

    assert spot().description == OTHER
    assert spot("Tower").description == TEXT
    assert texts_of() == [TEXT, OTHER]
    assert manuscript().state == "done"


def test_one_paragraph_is_written_again():
    written("Castle")
    text = f"{TEXT}\n\nThe second one.\n\nThe third one."
    edit(text=text)

    ask(f"paragraph:{spot().pk}:1")
    answer({"paragraph": f"{OTHER}\n\nAnd more."})
    keep()

    assert spot().description == f"{TEXT}\n\n{OTHER} And more.\n\nThe third one."


def test_a_paragraph_of_the_summary_is_written_again():
    written("Castle")

    ask("summary:0")
    answer({"paragraph": OTHER})
    keep()

    assert Guide.objects.get().summary == OTHER
    assert Guide.objects.get().title == "Lisbon, slowly"


def test_a_failed_spot_is_asked_for_again():
    wish()
    tell(outline("Castle", "Tower"))
    describe(TEXT, None, default=None)
    [failed] = manuscript().planned.filter(state="failed")

    ask(f"planned:{failed.pk}")
    assert LLMJob.objects.count() == 1
    describe(OTHER)

    assert names() == ["Castle", "Tower"]
    assert not manuscript().planned.filter(state="failed").exists()


def test_all_leaves_alone_what_a_person_has_edited():
    written("Castle", "Tower")
    edit("Castle")
    Guide.objects.update(summary="Mine.")

    order = ask("all")
    describe(OTHER)

    assert (len(order.asked), order.left_alone) == (1, 2)
    assert spot("Castle").description == "My own words."
    assert spot("Tower").description == OTHER
    assert Guide.objects.get().summary == "Mine."


def test_all_of_a_guide_without_an_outline_asks_for_the_outline():
    wish()
    tell(None)

    ask("all")

    assert manuscript().state == "outline"
    tell(outline("Castle"))
    describe()
    assert names() == ["Castle"]


def test_nothing_is_left_to_ask_when_people_have_edited_everything():
    written("Castle")
    edit()
    Guide.objects.update(summary="Mine.")

    with pytest.raises(again.Refused):
        ask("all")


def test_an_edit_between_asking_and_the_answer_stays():
    written("Castle")
    ask(f"spot:{spot().pk}")

    edit()
    describe(OTHER)

    assert spot().description == "My own words."
    assert texts_of() == [TEXT, OTHER]


def test_one_named_text_may_be_replaced_though_a_person_edited_it_before():
    written("Castle")
    edit()

    ask(f"spot:{spot().pk}")
    describe(OTHER)

    assert spot().description == OTHER


def test_asking_again_while_it_is_under_way_is_refused():
    written("Castle")
    ask("all")

    with pytest.raises(again.Refused, match="already"):
        ask("all")


def test_an_answer_that_can_not_be_used_changes_nothing():
    written("Castle")
    ask(f"spot:{spot().pk}")

    describe("日本語だけの文章です。ここはとても静かな場所です。")

    assert spot().description == TEXT
    assert "another language" in manuscript().error
    assert manuscript().state == "done"


def test_a_spot_that_was_deleted_meanwhile_does_not_come_back():
    written("Castle", "Tower")
    ask(f"spot:{spot().pk}")

    spot().delete()
    describe(OTHER)

    assert names() == ["Tower"]


@pytest.mark.few(4)
@pytest.mark.parametrize("what", ["", "x", "spot", "spot:", "spot:0", "spot:١", "paragraph:1",
    "summary:99", "summary:-1", "planned:0", "all:1", "spot:" + "9" * 40])  # fmt: skip
def test_what_is_not_there_can_not_be_asked_for(what):
    written("Castle")

    with pytest.raises(again.Refused):
        ask(what)


def test_an_older_text_can_be_put_back():
    written("Castle")
    ask(f"spot:{spot().pk}")
    describe(OTHER)

    versions.put_back(Version.objects.get(unit__startswith="spot:", version=1), by="mika")

    assert spot().description == TEXT
    assert texts_of() == [TEXT, OTHER, TEXT]


# In the admin


def page(client):
    return client.get(reverse("admin:guides_guide_change", args=["lisbon"])).content.decode()


def address(what):
    return reverse("admin:guides_guide_write_again", args=["lisbon"]) + f"?what={what}"


def test_staff_see_who_wrote_each_text(operator):
    written("Castle", "Tower")
    edit("Tower")

    shown = page(operator)

    assert shown.count("written by gemini:test, unchanged") == 2
    assert shown.count("edited since gemini:test") == 1


def test_staff_are_told_the_price_before_they_ask(operator):
    written("Castle", "Tower")
    edit("Tower")

    shown = operator.get(address("all")).content.decode()

    assert "It costs nothing." in shown
    assert "<b>2</b> texts are asked for again." in shown
    assert "1 text is left alone" in shown
    assert not LLMJob.objects.exists()


def test_staff_ask_again_and_it_is_noted(operator):
    written("Castle")

    told = operator.post(address("all"), follow=True).content.decode()

    assert LLMJob.objects.count() == 2
    assert "2 texts were asked for again." in told
    from django.contrib.admin.models import LogEntry

    assert "Asked again for texts: 2." in LogEntry.objects.get().change_message


def test_a_second_request_is_refused_with_a_sentence(operator):
    written("Castle")

    operator.post(address("all"))
    told = operator.post(address("all"), follow=True).content.decode()

    assert "being written already" in told
    assert LLMJob.objects.count() == 2


def test_viewers_can_not_ask(viewer):
    written("Castle")

    assert viewer.post(address("all")).status_code == 403
    assert "write-again" not in page(viewer)


def test_a_failed_spot_is_shown_with_its_reason(operator):
    wish()
    tell(outline("Castle", "Tower"))
    describe(TEXT, None, default=None)

    shown = page(operator)

    assert "the model refuses" in shown
    assert "?what=planned:" in shown


def test_a_guide_that_people_wrote_has_no_such_section(operator, guide):
    shown = operator.get(reverse("admin:guides_guide_change", args=["kyoto"])).content.decode()

    assert "write-again" not in shown
