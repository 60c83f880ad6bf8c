"""/topics/ and /topics/<tag>/: complete without a summary, and true at once."""

import random
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import escape

from guides import topics
from guides.models import Guide, SpotDetail
from guides.topics import tags
from guides.topics.models import TopicSummary
from tests.guides.topics.making import ENGLISH, JAPANESE, save
from tests.guides.withdrawing import withdraw

pytestmark = pytest.mark.django_db


def page_of(tag):
    return tags.address(tag)


def sum_up(language, text, plan_ids=("kyoto",)):
    TopicSummary.objects.create(tag="temple", language=language, text=text, plan_ids=list(plan_ids))


def test_a_site_without_guides_has_a_calm_page(client):
    page = client.get("/topics/")

    assert page.status_code == 200
    assert "No topics yet" in page.text


def test_topics_are_listed_with_the_number_of_their_guides(client):
    save("kyoto", ["temple"], ["Temple", "lake"])
    save("nara", ["temple"])

    page = client.get("/topics/")

    listed = [(each.tag, each.guides, each.spots) for each in page.context["topics"]]
    assert listed == [("temple", 2, 3), ("lake", 1, 1)]
    assert 'href="/topics/temple/"' in page.text


def test_a_topic_shows_its_guides_and_its_spots_without_a_summary(client):
    save("kyoto", ["temple"], ["lake"])
    save("nara", ["lake"])

    page = client.get("/topics/temple/")

    assert [spot.spot_name for spot in page.context["spots"]] == ["Kyoto 0"]
    assert [card.guide.pk for card in page.context["cards"]] == ["kyoto"]
    assert 'class="lead"' not in page.text
    ids = [part.split('"')[0] for part in page.text.split(' id="')[1:]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(("language", "text"), [("en", ENGLISH), ("ja", JAPANESE)])
def test_the_summary_is_in_the_visitor_s_language(client, language, text):
    save("kyoto", ["temple"])
    sum_up("en", ENGLISH)
    sum_up("ja", JAPANESE)

    page = client.get("/topics/temple/", headers={"Accept-Language": language})

    assert text in page.text


def test_the_only_summary_is_shown_with_its_language(client):
    save("kyoto", ["temple"])
    sum_up("en", "")
    sum_up("ja", JAPANESE)

    page = client.get("/topics/temple/")

    assert f'<div class="lead" lang="ja"><p>{JAPANESE}</p></div>' in page.text


def test_a_summary_vanishes_with_a_guide_that_it_is_made_of(client):
    save("kyoto", ["temple"])
    save("nara", ["temple"])
    sum_up("en", ENGLISH, ["kyoto", "nara"])
    sum_up("ja", JAPANESE, ["kyoto"])
    Guide.objects.filter(pk="nara").delete()

    page = client.get("/topics/temple/")

    assert ENGLISH not in page.text
    assert JAPANESE in page.text


def test_a_withdrawn_guide_is_gone_from_all_pages_at_once(client):
    save("kyoto", ["temple"])
    save("nara", ["temple", "deer"])
    sum_up("en", ENGLISH, ["kyoto", "nara"])

    withdraw("nara")

    assert client.get("/topics/deer/").status_code == 404
    page = client.get("/topics/temple/")
    assert "Nara" not in page.text
    assert ENGLISH not in page.text
    assert [each.tag for each in topics.most_used(9)] == ["temple"]


def test_an_unknown_topic_is_not_found(client):
    save("kyoto", ["temple"])

    assert client.get("/topics/lake/").status_code == 404
    assert client.get("/topics/%00/").status_code == 404
    assert client.get(f"/topics/{'x' * 1000}/").status_code == 404


def test_another_case_leads_to_the_same_page(client):
    save("kyoto", ["Temple"])

    assert client.get("/topics/TEMPLE/").headers["Location"] == "/topics/temple/"
    assert "<h1>Temple</h1>" in client.get("/topics/temple/").text


def test_letters_beyond_ascii_keep_their_case(client):
    save("kyoto", ["Éclair"], ["éclair"])

    assert len(topics.most_used(9)) == 2
    assert "<h1>Éclair</h1>" in client.get(page_of("Éclair")).text


HOSTILE = [
    *("神社", "a/b", "a//b", "/", ".", "..", "../..", "a?b", "a#b", "100%", "%2F", "~2F", "~"),
    *("<b>x</b>", "{{ 7 }}", '"', "'", "&amp;", "a b", "+", ";", ":", "é", "🗻", "a\\b"),
    *("javascript:alert(1)", "page", "%", "\u200bx", "-", "(", "[a]", "*", "OR 1=1 --"),
    *("x" * 50, "神" * 50),
]
ODD = [["a\nb"], [5, None, {}], {"a": 1}, "text", [""], ["x" * 90], [" x"]]


@pytest.mark.few(12)
@pytest.mark.parametrize("tag", HOSTILE)
def test_any_tag_has_a_page_that_its_guide_links_to(client, tag):
    save("kyoto", [tag])
    address = page_of(tag)

    assert f'href="{escape(address)}"' in client.get("/guides/kyoto/").text
    assert address.count("/") == 3
    page = client.get(address)
    assert page.status_code == 200
    assert page.context["topic"] == tags.topic_of(tag)
    assert "<b>x</b>" not in page.text
    assert [each.topic for each in topics.most_used(1)] == [tags.topic_of(tag)]


@pytest.mark.parametrize(
    "odd", [["a\nb"], [5, None, {}], {"a": 1}, "text", [""], ["x" * 90], [" x"]]
)
def test_tags_that_other_programs_stored_break_no_page(client, odd):
    save("kyoto", ["temple"], ["lake"])
    SpotDetail.objects.filter(spot_name="Kyoto 1").update(topic_tags=odd)

    assert client.get("/guides/kyoto/").status_code == 200
    assert [each.topic for each in topics.most_used(9)] == ["temple"]
    assert client.get("/topics/temple/").status_code == 200


def test_no_address_ends_in_a_server_error(client):
    save("kyoto", ["temple"])
    chance = random.Random(15)
    for _ in range(60):
        text = "".join(chr(chance.choice([*range(128), 0x3042, 0x1F5FB])) for _ in range(8))
        answer = client.get(f"/topics/{quote(text, safe='')}/?page={quote(text)}")
        assert answer.status_code in (200, 302, 404), text


def test_long_topics_have_pages(client):
    for number in range(14):
        save(f"guide-{number:02d}", ["temple"])

    first = client.get("/topics/temple/")
    second = client.get("/topics/temple/?page=2")

    shown = [[card.guide.pk for card in page.context["cards"]] for page in (first, second)]
    assert [len(each) for each in shown] == [12, 2]
    assert not set(shown[0]) & set(shown[1])
    assert 'rel="next" href="?page=2"' in first.text
    assert 'rel="prev" href="?page=1"' in second.text
    assert 'rel="next"' not in second.text
    for beyond in ("3", "0", "-1", "x", "9" * 9):
        assert client.get(f"/topics/temple/?page={beyond}").status_code == 404


def test_the_number_of_queries_does_not_grow(client):
    def queries(address):
        with CaptureQueriesContext(
            connection,
        ) as caught:
            assert client.get(address).status_code == 200
        return len(caught)

    save("kyoto", ["temple"])
    sum_up("en", ENGLISH)
    few = [queries(each) for each in ("/topics/", "/topics/temple/")]
    for number in range(20):
        save(f"guide-{number}", *[["temple", f"tag {number}"]] * 8)

    assert [queries(each) for each in ("/topics/", "/topics/temple/")] == few
    assert few[0] <= 2


@pytest.mark.parametrize("address", ["/topics/", "/topics/temple/"])
def test_a_page_that_has_not_changed_is_not_sent_again(client, address):
    save("kyoto", ["temple"])
    first = client.get(address)

    again = client.get(address, headers={"If-None-Match": first.headers["ETag"]})

    assert first.headers["Cache-Control"] == "no-cache"
    assert again.status_code == 304


def test_home_s_function_is_one_query_of_bounded_size(django_assert_num_queries, monkeypatch):
    monkeypatch.setattr("guides.topics.finding.COUNTED", 2)
    save("kyoto", ["old"], ["temple"], ["temple"])

    with django_assert_num_queries(1):
        found = topics.most_used(5)

    assert [(each.topic, each.guides, each.spots) for each in found] == [("temple", 1, 2)]
    assert found[0].address == reverse("topic", args=["temple"])
