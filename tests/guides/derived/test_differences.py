from hypothesis import given
from hypothesis import strategies as st

from guides.derived.differences import ADDED, REMOVED, SAME, compare, contents, pieces

TEXT = st.text(alphabet="ab 寺庭。.\n", max_size=60)


def told(before, after):
    return [(piece.kind, piece.text) for piece in pieces(before, after)]


def test_words_are_compared_as_a_whole():
    assert told("a quiet gate", "a quick gate") == [
        (SAME, "a "),
        (REMOVED, "quiet"),
        (ADDED, "quick"),
        (SAME, " gate"),
    ]


def test_letters_of_japanese_are_compared_one_by_one():
    assert told("静かな寺", "静かな庭") == [(SAME, "静かな"), (REMOVED, "寺"), (ADDED, "庭")]


@given(TEXT, TEXT)
def test_both_texts_can_be_read_from_the_pieces(before, after):
    found = pieces(before, after)

    assert "".join(each.text for each in found if each.kind != ADDED) == before
    assert "".join(each.text for each in found if each.kind != REMOVED) == after


def test_a_long_text_is_compared_by_sentences():
    lines = [f"Sentence {number} of many." for number in range(1_000)]
    changed = [*lines[:500], "Another one.", *lines[501:]]

    kinds = [kind for kind, _text in told(" ".join(lines), " ".join(changed))]

    assert kinds == [SAME, REMOVED, ADDED, SAME]


def test_a_huge_text_is_replaced_as_a_whole():
    assert [kind for kind, _text in told("a. " * 5_000, "b. " * 5_000)] == [REMOVED, ADDED]


def test_each_value_of_a_content_has_its_path():
    week = {"text": "A week", "events": [{"name": "x"}, {"name": "y"}], "tags": ["a", "b"]}

    assert contents(week) == {
        "text": "A week",
        "events 1.name": "x",
        "events 2.name": "y",
        "tags": "a\nb",
    }
    [part] = [each for each in compare(week, week | {"text": "B week"}) if not each.is_same]
    assert part.name == "text"


def test_a_value_that_only_one_has_is_added_or_removed():
    [old, new] = sorted(compare({"a": "x"}, {"b": "y"}), key=lambda part: part.name)

    assert (old.pieces[0].kind, new.pieces[0].kind) == (REMOVED, ADDED)
