"""Which topics there are, and the published guides and spots of one.

Nothing is stored for it: tags are read where they are, so a withdrawn guide is gone at once.
"""

from collections import Counter, defaultdict
from typing import Any, NamedTuple

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Exists, F, Lookup, OuterRef, Q, QuerySet
from django.db.models.sql.compiler import SQLCompiler

from guides.models import Guide, SpotDetail
from guides.topics import tags

COUNTED = 1_000  # spots: topics are counted among the newest ones
MOST_SPOTS = 5  # of one guide on a topic's page
WEIGHTIEST = 3  # topics of a guide whose summaries are refreshed with it


class Topic(NamedTuple):
    """A topic that published guides have."""

    topic: str
    tag: str  # as most spots write it
    guides: int
    spots: int

    @property
    def address(self) -> str:
        return tags.address(self.topic)


class Tagged(Lookup):
    """A list of tags has one that names this topic; on PostgreSQL an index, topic_keys, finds it.

    SQLite has no such index, and reads the tags of one spot after the other.
    """

    prepare_rhs = False

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        column, parameters = self.process_lhs(compiler, connection)
        array = f"CASE json_type({column}) WHEN 'array' THEN {column} ELSE '[]' END"
        sql = f"EXISTS (SELECT 1 FROM json_each({array}) WHERE lower(value) = %s)"  # noqa: S608
        return sql, (*parameters, *parameters, self.rhs)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        column, parameters = self.process_lhs(compiler, connection)
        return f"topic_keys({column}) @> ARRAY[%s]::text[]", (*parameters, self.rhs)


def of_topic(topic: str) -> Q:
    """The condition that a spot has a tag of this topic."""
    return Q(Tagged(F("topic_tags"), topic))


def most_used(limit: int) -> list[Topic]:
    """The topics that most of the newest guides have, in one query of a bounded number of rows."""
    return sorted(count(), key=lambda each: (-each.guides, -each.spots, each.topic))[:limit]


def count() -> list[Topic]:
    """All topics of the newest spots of published guides; the primary key has their order."""
    spots = SpotDetail.objects.filter(guide__withdrawn_at=None).exclude(topic_tags=[])
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    guides: dict[str, set[str]] = defaultdict(set)
    newest = spots.order_by("-pk").values_list("guide_id", "topic_tags")[:COUNTED]
    for plan_id, spot_tags in newest:
        for topic, tag in tags.topics_in(spot_tags).items():
            spellings[topic][tag] += 1
            guides[topic].add(plan_id)
    return [
        Topic(topic, usual(found), len(guides[topic]), found.total())
        for topic, found in spellings.items()
    ]


def usual(spellings: Counter[str]) -> str:
    """The spelling that most spots have; of several the first by its letters."""
    return min(spellings, key=lambda tag: (-spellings[tag], tag))


def weigh(plan_id: str) -> list[str]:
    """The most important topics of a guide.

    First those that most of its spots have, then those that most of the newest guides have, then
    by their letters: the same guide always gives the same.
    """
    spots = SpotDetail.objects.filter(guide=plan_id).order_by()
    here = Counter(
        topic
        for each in spots.values_list("topic_tags", flat=True)
        for topic in tags.topics_in(each)
    )
    shared = {each.topic: each.guides for each in count()} if len(here) > WEIGHTIEST else {}
    order = sorted(here, key=lambda topic: (-here[topic], -shared.get(topic, 0), topic))
    return order[:WEIGHTIEST]


def find_guides(topic: str) -> QuerySet[Guide]:
    """The published guides of a topic, newest first."""
    spots = SpotDetail.objects.filter(of_topic(topic), guide=OuterRef("pk"))
    return Guide.objects.published().filter(Exists(spots)).order_by("-created_at", "plan_id")


def find_spots(topic: str, plan_ids: list[str]) -> list[SpotDetail]:
    """The first spots of the topic in each of these guides, in the order of the guides."""
    spots = SpotDetail.objects.filter(of_topic(topic), guide__in=plan_ids)
    first: dict[str, list[int]] = defaultdict(list)
    for plan_id, pk in spots.order_by("position", "id").values_list("guide_id", "pk"):
        if len(first[plan_id]) < MOST_SPOTS:
            first[plan_id].append(pk)
    chosen = [pk for plan_id in plan_ids for pk in first[plan_id]]
    found = SpotDetail.objects.with_jobs().select_related("guide").in_bulk(chosen)
    return [found[pk] for pk in chosen if pk in found]
