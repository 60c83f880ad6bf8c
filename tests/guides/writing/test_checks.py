"""Answers are untrusted text: what can be used of them is used, and nothing else."""

import pytest

from guides.models import Guide, SpotDetail
from tests.guides.writing.writers import (
    TEXT,
    describe,
    manuscript,
    names,
    outline,
    tell,
    wish,
)

pytestmark = pytest.mark.django_db

JAPANESE = "静かな庭と古い門があり、朝はとても美しい場所です。"


def planned():
    return [spot.name for spot in manuscript().planned.all()]


def test_names_that_repeat_are_planned_once():
    wish(spots=5)

    tell(outline("Castle", "castle", " Castle ", "Ｃａｓｔｌｅ", "Tower"))

    assert planned() == ["Castle", "Tower"]


def test_more_spots_than_asked_for_are_cut():
    wish(spots=3)

    tell(outline(*[f"Spot {n}" for n in range(500)]))

    assert planned() == ["Spot 0", "Spot 1", "Spot 2"]


def test_fewer_spots_than_asked_for_are_enough():
    wish(spots=3)

    tell(outline("Castle"))

    assert planned() == ["Castle"]


@pytest.mark.parametrize(
    "spots", [[], None, "Castle", {}, [None], [[]], [{"name": ""}], [{"name": "<b></b>"}], [1, 2]]
)
def test_an_outline_without_usable_spots_fails(spots):
    wish()

    tell(outline(spots=spots))

    assert (manuscript().state, manuscript().error) == (
        "failed",
        "The outline has no usable spots.",
    )
    assert Guide.objects.get().title == "Lisbon"


def test_an_outline_in_another_language_fails():
    wish()

    tell(outline("Castle", summary=JAPANESE))

    assert "another language" in manuscript().error


def test_a_text_in_another_language_fails_alone():
    wish()
    tell(outline("Castle", "Tower"))

    describe(JAPANESE, TEXT)

    assert names() == ["Tower"]


def test_an_outline_without_words_keeps_the_destination_as_title():
    wish()

    tell(outline("Castle", title="", summary=7))

    guide = Guide.objects.get()
    assert (guide.title, guide.destination, guide.summary) == ("Lisbon", "Lisbon", "")
    assert manuscript().state == "texts"


def test_markup_and_links_do_not_reach_a_page(client):
    wish()
    evil = '<script>alert(1)</script><b onclick="x">Castle</b> [here](https://evil.example)'
    tell(outline(evil, title=evil, summary=evil))

    describe(f"{TEXT} {evil} https://evil.example/x")

    page = client.get("/guides/lisbon/").content.decode()
    assert names() == ["Castle here"]
    assert "evil.example" not in page
    assert "alert(1)" not in page
    assert "onclick" not in page


def test_long_texts_are_cut():
    wish()
    tell(outline("x" * 5_000, title="t" * 5_000, summary="s " * 9_000))

    describe("A word. " * 90_000)

    [spot] = SpotDetail.objects.all()
    assert len(spot.spot_name) <= 200
    assert len(spot.description) <= 3_000
    assert len(Guide.objects.get().title) <= 200


def test_tags_are_words_and_few():
    wish()
    data = outline("Castle")
    data["spots"][0]["tags"] = [None, 3, "a", "<i>b</i>", "c", "d", "e", "f", "x" * 900]

    tell(data)
    describe()

    assert SpotDetail.objects.get().topic_tags == ["a", "b", "c", "d", "e"]


def test_paragraphs_stay():
    wish()
    tell(outline("Castle"))

    describe(f"{TEXT}\n\n\n{TEXT}")

    assert SpotDetail.objects.get().description == f"{TEXT}\n\n{TEXT}"
