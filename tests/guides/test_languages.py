import pytest

from guides import languages
from guides.models import Guide


@pytest.mark.parametrize(
    ("text", "language"),
    [("Kyoto in two days", "en"), ("京都を歩く", "ja"), ("広島", "ja"), ("", "en"), ("123", "en")],
)
def test_letters_tell_the_language(text, language):
    assert languages.guess(text) == language


@pytest.mark.parametrize(
    ("text", "language", "fits"),
    [
        ("A quiet garden.", "en", True),
        ("静かな庭園です。", "en", False),
        ("静かな庭園です。", "ja", True),
        ("A quiet garden.", "ja", False),
        ("金閣寺", "ja", True),
        ("這座城市有許多古老的寺廟和花園值得參觀", "ja", False),
        ("JR京都駅の北側、徒歩5分。", "ja", True),
        ("2026", "ja", True),
        ("Un jardin tranquille.", "fr", True),
    ],
)
def test_a_text_can_be_in_a_language_or_not(text, language, fits):
    assert languages.can_be(text, language) is fits


def test_a_guide_speaks_the_language_it_names():
    assert Guide(title="Kyoto", language="ja").spoken == "ja"


def test_a_language_that_the_site_does_not_have_is_not_spoken():
    assert Guide(title="Kyoto", language="xx").spoken == "en"


def test_a_guide_that_names_none_speaks_as_its_letters_tell():
    assert Guide(title="広島から宮島へ", summary="川の街から。").spoken == "ja"
