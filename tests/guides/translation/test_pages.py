"""A visitor reads each text in their language while its translation is current."""

import re

import pytest

from guides.models import Guide, SpotDetail, SpotImageJob
from guides.translation import asking
from jobs import queue
from tests.guides.pages import OURS, finish, home_address, poll_address
from tests.guides.translation.translating import answer, save_kyoto, translate

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/guides/kyoto/"
JAPANESE = {"Accept-Language": "ja"}


@pytest.fixture
def kyoto(translator):
    guide = save_kyoto()
    translate()
    return guide


def read(client, path=PAGE, **headers):
    return client.get(path, headers=headers)


def links(page):
    return dict(re.findall(r'<link rel="alternate" hreflang="([^"]+)" href="([^"]+)">', page))


def meta(page):
    return re.findall(r'<meta (?:property|name)="([^"]+)" content="([^"]*)">', page)


def test_a_reader_of_japanese_gets_the_translation_and_a_link_to_the_original(client, kyoto):
    page = client.get(PAGE, headers=JAPANESE).text

    assert '<html lang="ja">' in page
    assert "<h1>京都</h1>" in page
    assert "<h2>門</h2>" in page
    assert "それは赤いです。" in page
    assert "It is red." not in page
    assert 'href="?lang=en" hreflang="en"' in page


def test_a_reader_of_english_gets_the_original_and_a_link_to_the_translation(client, kyoto):
    page = client.get(PAGE).text

    assert "<h1>Kyoto</h1>" in page
    assert '<a href="?lang=ja" hreflang="ja" lang="ja">日本語</a>' in page
    assert "京都" not in page


def test_the_address_chooses_the_language_of_page_and_texts(client, kyoto):
    japanese = client.get(f"{PAGE}?lang=ja")
    english = client.get(f"{PAGE}?lang=en", headers=JAPANESE)

    assert '<html lang="ja">' in japanese.text
    assert "<h1>京都</h1>" in japanese.text
    assert japanese.headers["Content-Language"] == "ja"
    assert '<html lang="en">' in english.text
    assert "<h1>Kyoto</h1>" in english.text


@pytest.mark.few(2)
@pytest.mark.parametrize("code", ["", "fr", "JA", "ja-JP", "%00", "../ja", "en%22%3E"])
def test_a_language_that_the_site_does_not_have_is_ignored(client, kyoto, code):
    page = client.get(f"{PAGE}?lang={code}").text

    assert '<html lang="en">' in page
    assert f'href="http://testserver{PAGE}">' in page


def test_while_it_is_under_way_the_original_is_shown_with_its_language(client, translator):
    save_kyoto()
    asking.ask("kyoto", "ja", by="mika")

    page = client.get(f"{PAGE}?lang=ja").text

    assert '<h1 lang="en">Kyoto</h1>' in page
    assert '<h2 lang="en">Gate</h2>' in page
    assert 'class="languages"' not in page


def test_an_edited_text_is_shown_in_the_original_and_the_others_translated(client, kyoto):
    SpotDetail.objects.filter(spot_name="Gate").update(description="It is blue.")

    page = client.get(f"{PAGE}?lang=ja").text

    assert '<div class="spot-text" lang="en"><p>It is blue.</p></div>' in page
    assert "<h2>門</h2>" in page
    assert '<div class="spot-text"><p>それは深いです。</p></div>' in page


def test_a_japanese_guide_is_read_in_english(client, translator):
    save_kyoto(title="京都", destination="日本", summary="夜明けの鳥居。")
    translator.answers = {"京都": "Kyoto!", "日本": "Japan!", "夜明けの鳥居。": "Gates!"}
    asking.ask("kyoto", "en", by="mika")
    answer()

    page = client.get(PAGE).text

    assert "<h1>Kyoto!</h1>" in page
    assert "Original in Japanese" in page


def test_tags_say_their_language(client, kyoto):
    SpotDetail.objects.update(topic_tags=["temple"])

    link = '<a href="/topics/temple/">temple</a>'
    assert f'<li lang="en">{link}</li>' in client.get(f"{PAGE}?lang=ja").text
    assert f"<li>{link}</li>" in client.get(PAGE).text


def test_a_translation_is_escaped(client, translator):
    save_kyoto()
    translator.answers = {"It is red.": "それは1 < 2 & 'そう'です"}
    translate()

    assert "それは1 &lt; 2 &amp; &#x27;そう&#x27;です" in client.get(f"{PAGE}?lang=ja").text


# For search engines and other sites


def test_each_language_has_an_address_of_its_own(client, kyoto):
    for path in (PAGE, f"{PAGE}?lang=ja", f"{PAGE}?lang=en&x=1"):
        assert links(client.get(path).text) == {
            "en": f"http://testserver{PAGE}?lang=en",
            "ja": f"http://testserver{PAGE}?lang=ja",
            "x-default": f"http://testserver{PAGE}",
        }


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        (PAGE, PAGE),
        (f"{PAGE}?lang=ja&utm=x", f"{PAGE}?lang=ja"),
        (f"{PAGE}?lang=fr", PAGE),
    ],
)
def test_a_page_names_its_canonical_address(client, kyoto, path, canonical):
    page = client.get(path).text

    assert f'<link rel="canonical" href="http://testserver{canonical}">' in page
    assert ("og:url", f"http://testserver{canonical}") in meta(page)


def test_a_language_in_which_hardly_anything_is_there_is_not_offered(client, kyoto):
    Guide.objects.update(title="A", destination="B", summary="C")
    SpotDetail.objects.update(description="D")

    page = client.get(f"{PAGE}?lang=ja").text

    assert links(page).keys() == {"en", "x-default"}
    assert f'<link rel="canonical" href="http://testserver{PAGE}">' in page


def test_what_is_shared_is_in_the_language_that_is_shown(client, kyoto):
    finish("Gate")
    page = client.get(f"{PAGE}?lang=ja").text

    assert ("og:title", "京都") in meta(page)
    assert ("og:description", "夜明けの鳥居。") in meta(page)
    assert ("og:locale", "ja_JP") in meta(page)
    assert ("og:locale:alternate", "en_US") in meta(page)
    assert ("og:image:alt", "門") in meta(page)
    assert "<title>京都 ·" in page


# Caches


def test_no_cache_mixes_languages(client, kyoto):
    for name in ("Gate", "Pond"):
        finish(name)
    english = client.get(PAGE)
    japanese = client.get(PAGE, headers=JAPANESE)
    chosen = client.get(f"{PAGE}?lang=ja")

    tags = {each.headers["ETag"] for each in (english, japanese)}
    assert len(tags) == 2
    assert "Accept-Language" in english.headers["Vary"]
    again = read(client, If_None_Match=english.headers["ETag"])
    assert again.status_code == 304
    other = client.get(PAGE, headers={**JAPANESE, "If-None-Match": english.headers["ETag"]})
    assert other.status_code == 200
    asked = {"If-None-Match": chosen.headers["ETag"]}
    assert client.get(f"{PAGE}?lang=ja", headers=asked).status_code == 304
    assert client.get(f"{PAGE}?lang=en", headers=asked).status_code == 200


def test_a_new_translation_is_another_page(client, translator):
    save_kyoto()
    queue.cancel(SpotImageJob.objects.all())
    etag = client.get(f"{PAGE}?lang=ja").headers["ETag"]
    translate()

    answered = client.get(f"{PAGE}?lang=ja", headers={"If-None-Match": etag})

    assert answered.status_code == 200


# Pictures that arrive


def test_a_picture_that_arrives_is_described_in_the_shown_language(client, kyoto):
    page = client.get(f"{PAGE}?lang=ja").text
    address = poll_address(page)
    finish("Gate")

    assert "lang=ja" in address
    alt = re.search(r'alt="([^"]*)"', client.get(address).text.partition("painted")[2])[1]
    assert "門" in alt
    assert "Gate" not in alt


def test_one_picture_is_described_in_the_chosen_language(client, kyoto):
    gate = SpotDetail.objects.get(spot_name="Gate")
    finish("Gate")
    address = f"{PAGE}spots/{gate.pk}/image/"

    assert "門" in client.get(f"{address}?lang=ja").text
    assert "Picture of Gate" in client.get(address).text


# Home


def test_home_shows_cards_in_the_reader_s_language(client, kyoto):
    page = client.get("/", headers=JAPANESE).text

    assert ">京都</a>" in page
    assert "夜明けの鳥居。" in page
    assert ">Kyoto</a>" in client.get("/").text


def test_a_card_that_changes_stays_in_the_reader_s_language(client, kyoto):
    address = home_address(client.get("/", headers=JAPANESE).text)
    finish("Gate")

    page = client.get(address, headers=JAPANESE).text

    assert ">京都</a>" in page
    assert OURS in page
    assert "門" in page


def test_a_card_without_translation_says_its_language(client, translator):
    save_kyoto()

    assert 'lang="en">Kyoto</a>' in client.get("/", headers=JAPANESE).text


def test_home_asks_once_for_the_translations_of_all_cards(client, kyoto, django_assert_num_queries):
    for number in range(20):
        Guide.objects.create(plan_id=f"g{number}", title=f"Guide {number}")
    client.get("/", headers=JAPANESE)

    with django_assert_num_queries(8):
        client.get("/", headers=JAPANESE)
