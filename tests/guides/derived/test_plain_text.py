import pytest
from hypothesis import given
from hypothesis import strategies as st

from guides import validators
from guides.derived import plain_text
from guides.derived.plain_text import plain


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("<b>Bold</b> words", "Bold words"),
        ("<script>alert(1)</script>Gate", "Gate"),
        ("<SCRIPT src=x>alert(1)", ""),
        ("&lt;img src=x onerror=alert(1)&gt;Gate", "Gate"),
        ("&amp;lt;b&amp;gt;Gate", "Gate"),
        ("<!-- hidden -->Gate", "Gate"),
        ("5 < 6 and 7 > 6", "5 < 6 and 7 > 6"),
        ("See [the shrine](https://bad.example/x) at dawn", "See the shrine at dawn"),
        ("Book at https://bad.example/x now", "Book at now"),
        ("Go to www.bad.example today", "Go to today"),
        ("javascript:alert(1)", ""),
        ("**Gate** of `heaven`", "Gate of heaven"),
        ("# A heading", "A heading"),
        ("two\nlines", "two lines"),
        ("turned \u202egnorw", "turned gnorw"),
        ("\x00\x07Gate\ud800", "Gate"),
        ("\u3164\u2800", ""),
        ("<\u202eb>Gate", "Gate"),
        ("<[b](x)>Gate", "Gate"),
        ("<**b**>Gate", "Gate"),
        ("&#" + "9" * 6_000 + ";Gate", "Gate"),
        ("", ""),
        (None, ""),
        (["a"], ""),
        (7, ""),
    ],
)
def test_only_words_are_kept(written, kept):
    assert plain(written, 100) == kept


def test_paragraphs_stay_where_lines_are_allowed():
    assert plain("One.\r\n\r\n\r\n Two. \nThree.", 100, lines=True) == "One.\n\nTwo.\nThree."


def test_a_text_that_is_too_long_is_cut_between_words():
    assert plain("one two three four", 10) == "one two…"


def test_a_text_without_spaces_is_cut_all_the_same():
    assert plain("あ" * 50, 10) == "あ" * 9 + "…"


@given(st.text() | st.text(alphabet="<>/!-&;#[]()*_` \n\u202eahref:script"))
def test_whatever_was_written_a_page_can_show_it(written):
    kept = plain(written, 50)

    validators.check_text(kept, 50)


@given(st.text(alphabet="<>/!-&;#[]()*_` \n\u202eahref:script", max_size=200))
def test_what_is_kept_stays_as_it_is_when_it_is_read_again(written):
    kept = plain(written, 500)

    assert "<script" not in kept.lower()


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "piece",
    [
        "<" * 9,
        "[a](",
        "[a](x",
        "&amp;" * 3,
        "<!--",
        "**a",
        "**a ",
        "`a ",
        "<a ",
        "</script  ",
        "\n",
    ],
)
def test_a_hostile_text_of_a_megabyte_takes_no_long_search(piece, monkeypatch):
    monkeypatch.setattr(plain_text, "MOST_READ", 1_000_000)  # a square of it would take hours

    plain(piece * (1_000_000 // len(piece)), 100)
