"""The requests of this slice, and what they will cost."""

from typing import Any

from guides import languages
from guides.derived import prices, prompts
from guides.derived.prices import Price
from guides.writing.models import Manuscript, PlannedSpot

SPOT = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "angle": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "angle", "tags"],
    "additionalProperties": False,
}
OUTLINE = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "summary": {"type": "string"},
        "spots": {"type": "array", "items": SPOT},
    },
    "required": ["title", "summary", "spots"],
    "additionalProperties": False,
}
DESCRIPTION, PARAGRAPH = prompts.texts("description"), prompts.texts("paragraph")
# Japanese needs more tokens than English. Models that think first count their thoughts too.
OUTLINE_TOKENS, TEXT_TOKENS = 8_192, 4_096
# For prices: about what is used, not the limit.
OUTLINE_SIZE = {"input_tokens": 400, "output_tokens": 1_500}
TEXT_SIZE = {"input_tokens": 500, "output_tokens": 500}


def outline(manuscript: Manuscript) -> dict[str, Any]:
    return prompts.request("writing_outline", OUTLINE, OUTLINE_TOKENS, **facts_of(manuscript))


def spot(manuscript: Manuscript, title: str, planned: PlannedSpot, before: str = "") -> Any:
    """The text of one spot; `before` is the one it shall differ from."""
    return prompts.request(
        "writing_spot",
        DESCRIPTION,
        TEXT_TOKENS,
        title=title,
        spot_name=planned.name,
        angle=planned.angle,
        tags=planned.tags,
        before=before,
        **facts_of(manuscript),
    )


def paragraph(manuscript: Manuscript, title: str, name: str, text: str, old: str) -> Any:
    """Another paragraph in the place of an old one; without a name it is the guide's summary."""
    return prompts.request(
        "writing_paragraph",
        PARAGRAPH,
        TEXT_TOKENS,
        title=title,
        spot_name=name,
        text=text,
        old=old,
        **facts_of(manuscript),
    )


def facts_of(manuscript: Manuscript) -> dict[str, Any]:
    return {
        "destination": manuscript.destination,
        "days": manuscript.days,
        "spots": manuscript.spots,
        "interests": manuscript.interests,
        "language": manuscript.language,
        "language_name": languages.name_of(manuscript.language),
        "tone": manuscript.tone,
    }


def price_of_outline() -> Price:
    return prices.of_requests(1, **OUTLINE_SIZE)


def price_of_texts(number: int) -> Price:
    return prices.of_requests(number, **TEXT_SIZE)
