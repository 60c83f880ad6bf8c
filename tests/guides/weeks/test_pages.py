"""Weeks as visitors see them: in their language, without what was withdrawn."""

import pytest
from django.db.models.functions import Now

from guides.models import Guide
from guides.weeks import keeping
from guides.weeks.keys import Week
from guides.weeks.models import WeekText
from tests.guides.pages import finish, new_guide
from tests.guides.weeks.conftest import ENGLISH, JAPANESE, KEY, NONSENSE, WEDNESDAY, say, withdraw

pytestmark = pytest.mark.django_db

PAGE = f"/weeks/{KEY}/"


def read(client, path=PAGE, **headers):
    return client.get(path, headers=headers).content.decode()


def test_a_week_has_its_text_events_changes_and_cards(client):
    say()

    html = read(client)

    for words in (ENGLISH["summary_text"], *ENGLISH["key_events"], ENGLISH["what_changed"]):
        assert words in html
    assert "November 16 – 22, 2026" in html
    assert html.count('class="card"') == 1
    assert f"Guide of {KEY}" in html
    assert "Written by AI" in html


def test_the_cards_of_a_week_poll_like_those_of_home(client):
    say()
    assert 'hx-get="/cards/?card=' in read(client)
    finish("Gate")
    assert "hx-get" not in read(client)


def test_a_week_speaks_the_visitors_language_or_says_which_it_speaks(client):
    say()
    fallback = read(client, **{"Accept-Language": "ja"})
    assert '<div class="lead lead-long" lang="en">' in fallback
    assert ENGLISH["summary_text"] in fallback

    say(language="ja")
    html = read(client, **{"Accept-Language": "ja"})
    assert JAPANESE["summary_text"] in html
    assert '<div class="lead lead-long">' in html
    assert "2026年11月16日 – 22日" in html
    assert 'lead-long">' in read(client, **{"Accept-Language": "en"})


def test_a_text_only_in_japanese_is_marked_for_others(client):
    say(language="ja")

    assert '<div class="lead lead-long" lang="ja">' in read(client)


def test_withdrawn_guides_vanish_from_a_week(client):
    say()
    new_guide("Pond", plan_id="other")
    Guide.objects.filter(pk="other").update(created_at=WEDNESDAY, title="Taken back")
    withdraw("other")

    html = read(client)

    assert "Taken back" not in html
    assert html.count('class="card"') == 1


def test_a_week_whose_guides_are_all_gone_is_gone(client):
    say()
    say("2026-W46")
    withdraw(KEY)

    assert client.get(PAGE).status_code == 410
    assert KEY not in read(client, "/weeks/")
    assert KEY not in read(client, "/")
    assert KEY not in read(client, "/feed/")
    assert "2026-W46" in read(client, "/")
    Guide.objects.update(withdrawn_at=None)
    assert client.get(PAGE).status_code == 200


def test_a_week_with_guides_and_no_text_has_no_page(client):
    new_guide("Gate")
    key = Week.of(Guide.objects.get().created_at).key

    assert client.get(f"/weeks/{key}/").status_code == 404


@pytest.mark.parametrize("key", [each for each in NONSENSE if isinstance(each, str) and each])
def test_nonsense_has_no_page(client, key):
    say()

    assert client.get("/weeks/" + key.replace("\n", "%0A") + "/").status_code == 404


def test_a_row_that_names_no_week_spoils_no_page(client):
    say()
    WeekText.objects.filter(week_key=KEY).update(week_key="2026-W99")

    for path in ("/", "/weeks/", "/feed/"):
        assert client.get(path).status_code == 200


def test_hostile_words_are_shown_as_words(client):
    evil = '<script>alert(1)</script><b>x</b> & "y" {{ 7|add:7 }} javascript:alert(2)'
    say(summary_text=evil, key_events=[evil, {"a": 1}, None, "ok"], what_changed=[evil])

    html = read(client)

    assert "<script>alert" not in html
    assert "<b>x" not in html
    assert "ok" in html
    for path in ("/", "/weeks/", "/feed/"):
        assert "<script>alert" not in read(client, path)


def test_many_events_are_not_all_shown(client):
    say(key_events=[f"Event {n}" for n in range(500)])

    assert read(client).count("<li>Event ") == 8


def test_a_huge_answer_is_not_read_to_its_end(client, monkeypatch):
    say(key_events=["x" * 100_000] * 20, what_changed="<" * 100_000)
    read_letters = []
    plain = keeping.plain_text.plain

    def noting(text, *most, **lines):
        read_letters.append(len(text))
        return plain(text, *most, **lines)

    monkeypatch.setattr(keeping.plain_text, "plain", noting)

    assert client.get(PAGE).status_code == 200
    assert sum(read_letters) < 50_000


def test_the_list_has_the_newest_first_and_pages(client, django_assert_max_num_queries):
    for number in range(1, 26):
        say(f"2026-W{number:02}")
        say(f"2026-W{number:02}", "ja")

    with django_assert_max_num_queries(4):
        html = read(client, "/weeks/")

    assert html.index("2026-W25") < html.index("2026-W24")
    assert html.count('<li class="strip">') == 20
    assert read(client, "/weeks/?page=2").count('<li class="strip">') == 5
    assert client.get("/weeks/?page=zzz").status_code == 200


def test_the_list_without_weeks_says_so(client):
    assert "No week is summed up yet" in read(client, "/weeks/")


def test_a_page_of_a_week_takes_the_same_queries_for_any_number_of_guides(
    client, django_assert_max_num_queries
):
    say()
    Guide.objects.bulk_create(Guide(plan_id=f"g{n:02}", title="Guide") for n in range(40))
    Guide.objects.update(created_at=WEDNESDAY)

    with django_assert_max_num_queries(10):
        html = read(client)

    assert html.count('class="card"') == 24
    assert "and 17 more" in html


def test_pages_of_weeks_are_conditional_and_kept_for_a_minute(client):
    say()
    finish("Gate")
    for path in (PAGE, "/weeks/"):
        first = client.get(path)
        again = client.get(path, headers={"If-None-Match": first.headers["ETag"]})

        assert first.headers["Cache-Control"] == "public, max-age=60"
        assert {"Accept-Language", "Cookie"} <= set(first.headers["Vary"].split(", "))
        assert (again.status_code, again.content) == (304, b"")


def test_a_week_that_is_not_over_says_so(client):
    new_guide("Gate", plan_id="now")
    key = Week.of(Guide.objects.get().created_at).key
    say(key)
    assert "The week is not over" in read(client, f"/weeks/{key}/")
    if key != "2026-W01":
        say("2026-W01")
        assert "The week is not over" not in read(client, "/weeks/2026-W01/")


def test_a_corrected_text_says_so(client):
    say()
    WeekText.objects.update(edited_at=Now())

    assert "corrected by people" in read(client)


# Home


def test_home_shows_the_latest_week_and_what_tabie_is(client):
    say("2026-W46", summary_text="Older words.")
    say()

    html = read(client, "/")

    assert ENGLISH["summary_text"] in html
    assert "Older words." not in html
    assert "Small travel guides to good places" in html
    assert "AI paints the pictures" in html


def test_home_without_a_week_has_no_hole(client):
    assert 'class="strip"' not in read(client, "/")


def test_further_pages_of_home_have_guides_only(client):
    say()
    Guide.objects.bulk_create(Guide(plan_id=f"g{n:02}", title="Guide") for n in range(30))

    assert 'class="strip"' not in read(client, "/?page=2")


def test_home_stays_light(client, django_assert_max_num_queries):
    say()
    Guide.objects.bulk_create(Guide(plan_id=f"g{n:02}", title="Guide") for n in range(30))

    with django_assert_max_num_queries(9):
        first = client.get("/")

    again = client.get("/", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("path", ["/", "/weeks/", PAGE, "/nowhere/"])
def test_every_page_leads_to_guides_weeks_and_the_feed(client, path):
    say()

    html = read(client, path)

    assert html.count('<ul class="ways">') == 2
    assert '<a href="/weeks/"' in html
    assert '<link rel="alternate" type="application/atom+xml"' in html
    assert 'href="/feed/?lang=en"' in html
    assert html.count('aria-current="page"') == (2 if path in ("/", "/weeks/") else 0)
