"""The texts of a guide beside their translations: which are up to date, missing or under way."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from guides import languages
from guides.models import Guide, SpotDetail
from guides.translation.models import GuideTranslation, State
from guides.translation.texts import Source, sources


class Stand(StrEnum):
    """How a text stands in another language."""

    CURRENT = "current"
    ASKED = "asked"
    FAILED = "failed"
    OUTDATED = "outdated"  # its original has changed since
    MISSING = "missing"


class Said(NamedTuple):
    """A text as it is shown, and the language it is in."""

    words: str
    language: str

    def __str__(self) -> str:
        return self.words


class Line:
    """One text, and what there is of it in another language."""

    def __init__(self, source: Source, row: GuideTranslation | None) -> None:
        self.source = source
        self.row = row

    @cached_property
    def stand(self) -> Stand:
        row = self.row
        if row is None:
            return Stand.MISSING
        if row.text and row.source_hash == self.source.hash:
            return Stand.CURRENT
        if row.asked_hash == self.source.hash and row.state != State.IDLE:
            return Stand.ASKED if row.state == State.ASKED else Stand.FAILED
        return Stand.OUTDATED if row.text else Stand.MISSING

    @property
    def said(self) -> Said:
        """The translation while it is current, else the original."""
        if self.row and self.stand == Stand.CURRENT:
            return Said(self.row.text, self.row.language)
        return Said(self.source.text, self.source.language)


class Sheet:
    """All texts of a guide in one language."""

    def __init__(self, language: str, lines: list[Line], *, is_original: bool = False) -> None:
        self.language = language
        self.lines = lines
        self.is_original = is_original

    @cached_property
    def counts(self) -> Counter[Stand]:
        return Counter(line.stand for line in self.lines)

    @property
    def total(self) -> int:
        return len(self.lines)

    @property
    def translated(self) -> int:
        return self.total if self.is_original else self.counts[Stand.CURRENT]

    @property
    def is_offered(self) -> bool:
        """Whether the guide can be had in this language: most of it, not a line here and there."""
        return self.is_original or (self.translated > 0 and 2 * self.translated >= self.total)

    @cached_property
    def said(self) -> dict[str, Said]:
        return {line.source.key: line.said for line in self.lines}

    @property
    def is_translated(self) -> bool:
        """Whether a reader meets any translated text."""
        return not self.is_original and self.translated > 0


def of_guide(guide: Guide, spots: Iterable[SpotDetail]) -> dict[str, Sheet]:
    """A sheet for every language of the site, with one query; the original comes first."""
    found = sources(guide, spots)
    rows: dict[tuple[str, str], GuideTranslation] = {
        (row.language, row.key): row for row in GuideTranslation.objects.filter(guide=guide)
    }
    plain = [Line(source, None) for source in found]
    sheets = {guide.spoken: Sheet(guide.spoken, plain, is_original=True)}
    for code in languages.other_than(guide.spoken):
        lines = [Line(source, rows.get((code, source.key))) for source in found]
        sheets[code] = Sheet(code, lines)
    return sheets
