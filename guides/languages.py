"""The languages of the site: which one a text is in, as far as its letters tell."""

import re
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _

JAPANESE = re.compile(r"[ぁ-ヿ一-鿿々ー]")
KANA = re.compile(r"[ぁ-ヿ]")
LETTERS = re.compile(r"[^\W\d_]")
SHARE = 0.3  # of Japanese letters, from which a text counts as Japanese
FEW = 12  # letters of a name: Japanese ones may be all kanji
NAMES = {"en": "English", "ja": "Japanese"}  # as a prompt says them


def choices() -> list[tuple[str, Any]]:
    return [("", _("as its letters tell")), *settings.LANGUAGES]


def codes() -> list[str]:
    return [code for code, _label in settings.LANGUAGES]


def name_of(code: str) -> str:
    """The language's name in English, for prompts."""
    return NAMES.get(code, code)


def guess(*texts: str) -> str:
    """The language of these texts: Japanese if their letters are, else the site's own."""
    found = share("".join(texts))
    others = [code for code in codes() if code != "ja"]
    if found >= SHARE:
        return "ja"
    return settings.LANGUAGE_CODE if settings.LANGUAGE_CODE != "ja" else next(iter(others), "ja")


def share(text: str) -> float:
    """The share of Japanese letters among the letters of a text."""
    letters = LETTERS.findall(text)
    return len(JAPANESE.findall(text)) / len(letters) if letters else 0.0


def can_be(text: str, language: str) -> bool:
    """Whether a text can be in this language. Only letters are looked at, not words."""
    letters = LETTERS.findall(text)
    if not letters:
        return True
    if language == "ja":
        is_name = len(letters) <= FEW
        return share(text) >= SHARE and (is_name or KANA.search(text) is not None)
    return share(text) < SHARE


def other_than(language: str) -> list[str]:
    return [code for code in codes() if code != language]
