"""Offline the scribe translates the demo guides, and gives honest samples of other texts."""

import json

import pytest

from guides import demo, languages
from guides.models import Guide, SpotDetail
from guides.scribe import Scribe
from guides.translation import asking, checking
from guides.translation.texts import Source, sources


def translated(text, origin="en", target="ja", key="summary"):
    source = Source(key, text, origin)
    raw = json.loads(Scribe().write(asking.request(Guide(title="A guide"), source, target), 5).raw)
    said = json.loads(raw["text"])["translation"]
    words, _fault = checking.checked(said, key, target, source.most)
    assert words == said
    return words


def demo_texts():
    for facts, spots in demo.GUIDES:
        guide = Guide(**facts)
        rows = [SpotDetail(pk=n, spot_name=a, description=b) for n, (a, b, _) in enumerate(spots)]
        yield from sources(guide, rows)


@pytest.mark.parametrize("source", list(demo_texts()), ids=lambda source: source.text[:20])
def test_every_text_of_the_demo_guides_can_be_had_in_the_other_language(source):
    [target] = languages.other_than(source.language)

    words = translated(source.text, source.language, target, source.key)

    assert words != source.text
    assert "見本" not in words
    assert "sample" not in words


def test_it_translates_what_it_wrote_itself():
    assert translated("Kyoto, slowly", key="title") == "京都をゆっくり歩く"
    assert translated("Lisbon Stone Bridge", key="spot:1:name") == "リスボンの石橋"
    assert translated("鏡池", "ja", "en", "spot:1:name") == "Mirror Pond"


@pytest.mark.parametrize("text", ["Gate", "A longer name of a place", "Any text at all. " * 50])
def test_of_other_texts_it_gives_a_sample_that_says_so(text):
    assert "見本の訳" in translated(text)


@pytest.mark.parametrize("text", ["門", "杉並木の長い坂道のある町の朝", "知らない文章です。" * 9])
def test_a_sample_in_english_is_english(text):
    assert "sample" in translated(text, "ja", "en")


def test_a_text_with_quotation_marks_and_lines_is_read_to_its_end():
    text = 'He said "hi".\nA very long story that it does not know, on and on and on.'

    assert translated(text).startswith('「He said "hi"…」')
