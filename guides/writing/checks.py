"""What a model answered, made fit to be kept. Any JSON may come: none of this raises."""

import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_noop

from guides import languages, validators
from guides.derived.plain_text import plain
from jobs.llm.models import LLMJob
from jobs.models import Status

LONGEST_ANGLE = 300
LONGEST_TEXT = 3_000
MOST_TAGS = 5
MOST_READ = 200  # spots of an outline

# For staff: stored in English, translated when they are shown.
NO_SPOTS = gettext_noop("The outline has no usable spots.")
OTHER_LANGUAGE = gettext_noop("It was written in another language than asked for.")
EMPTY = gettext_noop("The answer has no usable text.")
UNANSWERED = gettext_noop("The request failed or was canceled.")


class Unusable(Exception):
    """Nothing of this answer can be kept; its text says why."""


class Planned(NamedTuple):
    name: str
    tags: list[str]
    angle: str


class Outline(NamedTuple):
    title: str  # empty if it can't be used, as is the summary
    summary: str
    spots: list[Planned]


def outline_of(answer: LLMJob, most: int, language: str) -> Outline:
    """The usable part of an outline, at most this many spots; raises Unusable."""
    data = data_of(answer)
    spots = usable_spots(data.get("spots"), language)[:most]
    if not spots:
        raise Unusable(NO_SPOTS)
    summary = plain(data.get("summary"), validators.LONGEST_SUMMARY, lines=True)
    prose = " ".join([summary, *(spot.angle for spot in spots)])
    if not languages.can_be(prose, language):
        raise Unusable(OTHER_LANGUAGE)
    title = plain(data.get("title"), validators.LONGEST_TITLE)
    return Outline(
        title if languages.can_be(title, language) else "",
        summary if languages.can_be(summary, language) else "",
        spots,
    )


def usable_spots(spots: Any, language: str) -> list[Planned]:
    """Those with a name that can be shown and that no earlier one has."""
    found: dict[str, Planned] = {}
    for spot in spots[:MOST_READ] if isinstance(spots, list) else []:
        if not isinstance(spot, dict):
            continue
        name = plain(spot.get("name"), validators.LONGEST_SPOT_NAME).strip()
        if is_name(name, language):
            angle = plain(spot.get("angle"), LONGEST_ANGLE)
            found.setdefault(same(name), Planned(name, tags_of(spot.get("tags")), angle))
    return list(found.values())


def is_name(name: str, language: str) -> bool:
    """A Japanese text may name places in any letters; another one can't be read in kanji."""
    try:
        validators.validate_spot_name(name)
    except ValidationError:
        return False
    return language == "ja" or languages.can_be(name, language)


def same(name: str) -> str:
    """Names that a reader takes for the same are the same."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def tags_of(tags: Any) -> list[str]:
    words: Iterable[Any] = tags[:MOST_READ] if isinstance(tags, list) else []
    usable = filter(None, (plain(tag, validators.LONGEST_TAG) for tag in words))
    first = list(dict.fromkeys(usable))[:MOST_TAGS]
    return validators.tidy_tags(first)


def text_of(answer: LLMJob, name: str, most: int, language: str) -> str:
    """One text of an answer, with its paragraphs; raises Unusable."""
    text = plain(data_of(answer).get(name), most, lines=True)
    if not text:
        raise Unusable(EMPTY)
    if not languages.can_be(text, language):
        raise Unusable(OTHER_LANGUAGE)
    return text


def data_of(answer: LLMJob) -> dict[str, Any]:
    if answer.status != Status.SUCCEEDED:
        raise Unusable(answer.last_error or UNANSWERED)
    said = answer.response_json
    data = said.get("data") if isinstance(said, dict) else None
    return data if isinstance(data, dict) else {}
