"""The texts of a guide that can be had in other languages."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from guides import validators
from guides.derived import versions
from guides.models import Guide, SpotDetail

NAME, DESCRIPTION = "name", "description"
GUIDE_TEXTS = {
    "title": validators.LONGEST_TITLE,
    "destination": validators.LONGEST_TITLE,
    "summary": validators.LONGEST_SUMMARY,
}
SPOT_TEXTS = {
    NAME: validators.LONGEST_SPOT_NAME,
    DESCRIPTION: validators.LONGEST_DESCRIPTION,
}
LIMITS = {**GUIDE_TEXTS, **SPOT_TEXTS}
# A short name becomes no long sentence: a model that explains itself is refused.
LEAST_ROOM, GROWTH = 40, 6


class Source(NamedTuple):
    """One text as its author wrote it."""

    key: str
    text: str
    language: str

    @property
    def hash(self) -> str:
        """Of what is translated: another text, or another language to translate it from."""
        return versions.payload_hash({"text": self.text, "from": self.language})

    @property
    def most(self) -> int:
        """How long its translation may be. The admin takes longer originals than the API."""
        most = LIMITS[kind_of(self.key)]
        if has_lines(self.key):
            return max(most, 3 * len(self.text))
        return min(most, LEAST_ROOM + GROWTH * len(self.text))


def sources(guide: Guide, spots: Iterable[SpotDetail]) -> list[Source]:
    """Every text of a guide that is not empty, in the order in which the page has them."""
    spoken = guide.spoken
    return [
        Source(key, text, spoken) for key, text in written(guide, spots) if text and text.strip()
    ]


def written(guide: Guide, spots: Iterable[SpotDetail]) -> Iterator[tuple[str, str]]:
    for key in GUIDE_TEXTS:
        yield key, getattr(guide, key)
    for spot in spots:
        yield spot_key(spot, NAME), spot.spot_name
        yield spot_key(spot, DESCRIPTION), spot.description


def source_of(guide: Guide, key: str) -> Source | None:
    """The original of one text; None: the guide has no such text any more."""
    found = sources(guide, guide.spots.all() if is_of_spot(key) else [])
    return next((source for source in found if source.key == key), None)


def spot_key(spot: SpotDetail, kind: str) -> str:
    return f"spot:{spot.pk}:{kind}"


def is_of_spot(key: str) -> bool:
    return key.startswith("spot:")


def kind_of(key: str) -> str:
    return key.rpartition(":")[2]


def has_lines(key: str) -> bool:
    """Whether the text may have several lines."""
    return kind_of(key) in ("summary", DESCRIPTION)
