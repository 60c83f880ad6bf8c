"""The Atom feed of new guides and weeks."""

from datetime import datetime, timedelta
from xml.etree import ElementTree

import pytest
from django.db.models.functions import Now

from guides.models import Guide
from guides.weeks.models import WeekText
from tests.guides.pages import new_guide
from tests.guides.weeks.conftest import ENGLISH, JAPANESE, KEY, say, withdraw

pytestmark = pytest.mark.django_db

ATOM = "{http://www.w3.org/2005/Atom}"


def entries(client, query="", **headers):
    return parse(client.get(f"/feed/{query}", headers=headers)).findall(f"{ATOM}entry")


def parse(answer):
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("application/atom+xml")
    return ElementTree.fromstring(answer.content)


def value(entry, name):
    return entry.find(f"{ATOM}{name}").text


def link(entry, rel="alternate"):
    return next(each.get("href") for each in entry.findall(f"{ATOM}link") if each.get("rel") == rel)


def test_the_feed_tells_of_new_guides_and_weeks(client):
    say()

    feed = parse(client.get("/feed/"))

    guide, week = sorted(feed.findall(f"{ATOM}entry"), key=link)
    assert value(guide, "title") == f"Guide of {KEY}"
    assert link(guide) == f"http://testserver/guides/{KEY}/"
    assert value(week, "title") == "The week: November 16 – 22, 2026"
    assert ENGLISH["summary_text"] in value(week, "summary")
    assert link(feed, "self") == "http://testserver/feed/?lang=en"
    assert feed.find(f"{ATOM}author/{ATOM}name").text == "Tabie"
    for each in (feed, guide, week):
        assert value(each, "id").startswith("tag:testserver,2026-")
        assert datetime.fromisoformat(value(each, "updated")).tzinfo


def test_ids_stay_and_times_are_those_of_the_change(client):
    say()
    guide, week = sorted(entries(client), key=link)
    WeekText.objects.update(updated_at=Now() + timedelta(hours=1), summary_text="Other words.")
    Guide.objects.update(published_at=Now(), title="Handed over again")
    again = sorted(entries(client), key=link)

    assert [value(each, "id") for each in again] == [value(guide, "id"), value(week, "id")]
    assert value(again[0], "updated") == value(guide, "updated")
    assert value(again[1], "updated") > value(week, "updated")
    assert value(again[1], "published") == value(week, "published")
    stored = WeekText.objects.get()
    assert datetime.fromisoformat(value(again[1], "updated")) == stored.updated_at


def test_withdrawn_guides_are_absent(client):
    say()
    withdraw(KEY)

    assert entries(client) == []


def test_an_empty_feed_is_the_same_document_every_time(client):
    assert client.get("/feed/").content == client.get("/feed/").content


@pytest.mark.parametrize(
    ("query", "accepted", "language"),
    [
        ("", "ja", "ja"),
        ("?lang=ja", "en", "ja"),
        ("?lang=en", "ja", "en"),
        ("?lang=xx", "ja", "ja"),
        ("?lang=%00", "en", "en"),
    ],
)
def test_the_feed_speaks_the_language_that_is_asked_for(client, query, accepted, language):
    say()
    say(language="ja")

    answer = client.get(f"/feed/{query}", headers={"Accept-Language": accepted})

    feed = parse(answer)
    words = JAPANESE if language == "ja" else ENGLISH
    assert words["summary_text"] in answer.content.decode()
    assert feed.get("{http://www.w3.org/XML/1998/namespace}lang") == language
    assert answer.headers["Content-Language"] == language
    assert "Accept-Language" in answer.headers["Vary"]


def test_the_feed_is_conditional(client):
    say()
    first = client.get("/feed/")
    same = client.get("/feed/", headers={"If-None-Match": first.headers["ETag"]})
    withdraw(KEY)
    other = client.get("/feed/", headers={"If-None-Match": first.headers["ETag"]})

    assert (same.status_code, other.status_code) == (304, 200)


def test_hostile_titles_spoil_nothing(client):
    evil = "<script>alert(1)</script> ]]> & \x0b\ufffe\x01 “x”"
    guide = new_guide("Gate")
    Guide.objects.filter(pk=guide.pk).update(title=evil, summary=evil)

    [entry] = entries(client)

    assert value(entry, "title") == "<script>alert(1)</script> ]]> &  “x”"
    # The summary is HTML to a reader: words stay words there too.
    assert "<script" not in value(entry, "summary")
    assert "&lt;script&gt;alert(1)" in value(entry, "summary")


def test_the_feed_has_the_newest_thirty_in_few_queries(client, django_assert_max_num_queries):
    for number in range(1, 36):
        say(f"2026-W{number:02}")
        say(f"2026-W{number:02}", "ja")

    with django_assert_max_num_queries(3):
        found = entries(client)

    assert len(found) == 30
    moments = [value(each, "published") for each in found]
    assert moments == sorted(moments, reverse=True)


def test_links_lead_to_this_site_by_its_own_rules(client, settings):
    settings.ALLOWED_HOSTS = ["example.org"]
    say()

    feed = parse(client.get("/feed/", headers={"Host": "Example.org:1234"}))

    assert link(feed) == "http://example.org/"
