"""What a model is told of a week: its new guides, and the week before."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber

from guides import languages
from guides.derived import plain_text, prompts, versions
from guides.models import Guide, SpotDetail
from guides.weeks.keys import Week
from guides.weeks.models import WeekText

MOST_GUIDES = 30
MOST_SPOTS = 8  # of each guide
MOST_TAGS = 8
MANY = 1_000  # a count stops here
LONGEST_NAME = 120
LONGEST_BEFORE = 800  # of the text of the week before
MAX_TOKENS = 2_000

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "summary_text": {"type": "string"},
        "key_events": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
        "what_changed": {"type": "string"},
    },
    "required": ["summary_text", "key_events", "what_changed"],
    "additionalProperties": False,
}
Facts = dict[str, Any]


@dataclass(frozen=True)
class Draft:
    """What would be asked about a week, by language; nothing for a week without guides."""

    week: Week
    facts: dict[str, Facts]

    def hash_of(self, language: str) -> str:
        return versions.payload_hash(self.facts[language])

    def request(self, language: str) -> dict[str, Any]:
        return prompts.request("week", SCHEMA, MAX_TOKENS, **self.facts[language])


def gather(week: Week) -> Draft:
    """Read the facts of a week. The number of rows is bounded, however many guides there are."""
    guides = list(guides_of(week).order_by("created_at", "plan_id")[:MOST_GUIDES])
    if not guides:
        return Draft(week, {})
    shared = {
        "week_key": week.key,
        "first_day": week.first_day.isoformat(),
        "last_day": week.last_day.isoformat(),
        "guides": describe(guides),
        "number": count(week),
        "number_before": count(week.before),
    }
    before = texts_of(week.before)
    return Draft(
        week,
        {
            code: {
                **shared,
                "language": code,
                "language_name": languages.name_of(code),
                "text_before": before.get(code, ""),
            }
            for code in languages.codes()
        },
    )


def guides_of(week: Week) -> QuerySet[Guide]:
    """Served by the index guide_published."""
    created = {"created_at__gte": week.starts_at, "created_at__lt": week.ends_at}
    return Guide.objects.published().filter(**created)


def count(week: Week) -> int:
    return guides_of(week).order_by()[:MANY].count()


def describe(guides: Iterable[Guide]) -> list[Facts]:
    names, tags = spots_of([guide.pk for guide in guides])
    return [
        {
            "title": guide.title[:LONGEST_NAME],
            "destination": guide.destination[:LONGEST_NAME],
            "spots": names[guide.pk],
            "tags": sorted(tag for tag, _number in tags[guide.pk].most_common(MOST_TAGS)),
        }
        for guide in guides
    ]


def spots_of(plan_ids: list[str]) -> tuple[dict[str, list[str]], dict[str, Counter[str]]]:
    """The names of the first spots of each guide, and how often they have which tags."""
    place = Window(RowNumber(), partition_by="guide_id", order_by=[F("position"), F("id")])
    spots = SpotDetail.objects.filter(guide__in=plan_ids).annotate(place=place)
    names: dict[str, list[str]] = defaultdict(list)
    tags: dict[str, Counter[str]] = defaultdict(Counter)
    for spot in spots.filter(place__lte=MOST_SPOTS).order_by("guide_id", "place"):
        names[spot.guide_id].append(spot.spot_name[:LONGEST_NAME])
        tags[spot.guide_id].update(known_tags(spot))
    return names, tags


def known_tags(spot: SpotDetail) -> list[str]:
    """Its tags; other programs may store something else."""
    tags = spot.topic_tags if isinstance(spot.topic_tags, list) else []
    return sorted(tag[:LONGEST_NAME] for tag in tags if isinstance(tag, str))


def texts_of(week: Week) -> dict[str, str]:
    """What was said of a week, by language."""
    rows = WeekText.objects.written().filter(week_key=week.key)
    return {
        language: plain_text.plain(text, LONGEST_BEFORE)
        for language, text in rows.values_list("language", "summary_text")
    }
