import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.db import text
from tests.jobs.unreadable import Unreadable

ANYTHING = st.text(st.characters(codec=None, categories=None))


@given(ANYTHING, st.integers(1, 60))
def test_clean_text_can_be_stored_and_fits(said, longest):
    stored = text.clean(said, longest).encode("utf-8")

    assert len(stored) <= longest
    assert b"\x00" not in stored


def test_ordinary_text_is_left_as_it_is():
    assert text.clean("広島城 — 50 %") == "広島城 — 50 %"


def test_an_error_without_words_is_named_by_its_class():
    assert text.message(ValueError()) == "ValueError"


def test_the_end_of_a_long_traceback_is_kept():
    try:
        raise ValueError("x" * 50_000 + " the end")
    except ValueError as error:
        told = text.full_traceback(error)

    assert told.endswith("the end\n")
    assert len(told) <= text.LONGEST_TRACEBACK


def test_an_error_can_name_its_own_kind():
    error = ValueError("429")
    error.kind = "rate limited"

    assert text.kind(error) == "rate limited"


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), KeyboardInterrupt()])
def test_an_error_that_can_not_be_read_is_named_all_the_same(error):
    unreadable = Unreadable(error)

    assert text.message(unreadable) == text.UNREADABLE
    assert text.kind(unreadable) == "Unreadable"
    assert "Unreadable" in text.full_traceback(unreadable)
