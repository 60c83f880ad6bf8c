"""Asking for summaries of a topic: when its facts have changed, and not too often."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import models, transaction
from django.db.models import Max
from django.db.models.functions import Now
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from guides import languages
from guides.derived import commissions, prices, prompts, told, versions
from guides.derived.models import Commission
from guides.topics import finding
from guides.topics.keeping import KeepTopic
from guides.topics.summaries import TopicSummary
from jobs import queue
from jobs.errors import Snooze
from jobs.models import Job
from jobs.run import Run

MOST_GUIDES = 8  # that a request tells of, the newest ones; of each its first spots
LONGEST_WORDS = 240  # characters of a spot's description
MAX_TOKENS = 1_200
INPUT_TOKENS = 3_000  # of a usual request, for its price
SCHEMA = prompts.texts("summary")


class RefreshTopic(Job):
    """Asks for new summaries of a topic, if its facts have changed."""

    tag = models.TextField(_("topic"))

    is_housekeeping = True

    class Meta(Job.Meta):
        db_table = "refresh_topic_jobs"
        verbose_name = _("refresh of a topic")
        verbose_name_plural = _("refreshes of topics")

    def __str__(self) -> str:
        return self.tag

    def perform(self, run: Run) -> None:
        refresh(self.tag)


class UnderWay(Exception):
    """The same was asked about this topic, and the answers are not here yet."""


class Facts(NamedTuple):
    """What a request tells of a topic."""

    topic: str
    guides: list[dict[str, Any]]  # title, destination, and spots: name and words
    plan_ids: list[str]

    @property
    def hash(self) -> str:
        return versions.payload_hash({"topic": self.topic, "guides": self.guides})


def cooldown() -> timedelta:
    return timedelta(hours=settings.TOPIC_COOLDOWN_HOURS)


def enqueue(topics: Iterable[str]) -> list[Any]:
    """Let these topics be refreshed, each once: now, or when its cooldown is over.

    In the caller's transaction. One that is queued already will see what is saved there; one that
    runs may not, so another one follows it.
    """
    later = cooling(topics)
    jobs = [RefreshTopic(tag=topic, unique_key=topic) for topic in topics]
    for job in jobs:
        if job.tag in later:
            job.run_after = later[job.tag]
    return queue.enqueue(jobs, unique_while="queued")


def cooling(topics: Iterable[str]) -> dict[str, datetime]:
    """Topics that were asked for just now, and until when they wait."""
    late = TopicSummary.objects.filter(tag__in=topics, asked_at__gt=Now() - cooldown())
    asked = late.order_by().values("tag").annotate(last=Max("asked_at"))
    return {tag: last + cooldown() for tag, last in asked.values_list("tag", "last")}


@transaction.atomic
def refresh(topic: str) -> None:
    """Ask for the summaries whose facts have changed; repeating it asks nothing more.

    Raises Snooze during the cooldown.
    """
    if not finding.find_guides(topic).exists():
        return
    rows = lock_rows(topic)
    facts = gather(topic)  # after the lock, so that older facts never come after newer ones
    stale = [row.language for row in rows if row.source_hash != facts.hash]
    if not stale:
        return
    if seconds := seconds_left(topic):
        raise Snooze(seconds, "its last summary is too new")
    ask(facts, stale)


@transaction.atomic
def ask_now(topic: str, by: object) -> int:
    """Ask for all summaries of a topic because a person wants them; returns for how many.

    Raises UnderWay: two presses of the button buy one answer.
    """
    wanted = languages.codes()
    rows = lock_rows(topic)
    facts = gather(topic)
    if not facts.guides:
        return 0
    if is_under_way(rows, facts):
        raise UnderWay(topic)
    ask(facts, wanted, by)
    return len(wanted)


def ask(facts: Facts, wanted: Sequence[str], by: object = "") -> None:
    requests = [request(facts, language) for language in wanted]
    keeper = KeepTopic(
        tag=facts.topic, languages=wanted, source_hash=facts.hash, plan_ids=facts.plan_ids
    )
    commissions.ask(requests, keeper, subject=facts.topic, by=by)
    rows = TopicSummary.objects.filter(tag=facts.topic, language__in=wanted)
    rows.update(source_hash=facts.hash, asked_at=Now())


def lock_rows(topic: str) -> list[TopicSummary]:
    """A row for each language of the site. Others that ask for this topic wait here."""
    missing = [TopicSummary(tag=topic, language=language) for language in languages.codes()]
    TopicSummary.objects.bulk_create(missing, ignore_conflicts=True)
    rows = TopicSummary.objects.filter(tag=topic, language__in=languages.codes())
    return list(rows.order_by("language").select_for_update())


def is_under_way(rows: Iterable[TopicSummary], facts: Facts) -> bool:
    """Whether answers about these facts are still to come."""
    asked = [row.asked_at for row in rows if row.asked_at and row.source_hash == facts.hash]
    if not asked:
        return False
    last = max(asked)
    # `ask` creates the commission just before it notes the time.
    lately = Commission.objects.filter(created_at__range=(last - timedelta(minutes=1), last))
    mine = lately.filter(slice=KeepTopic.slice, subject=facts.topic, kept_at=None)
    return any(not each.is_stuck for each in told.look(mine))


def seconds_left(topic: str) -> float:
    """Until the end of the topic's cooldown, by the database's clock; 0 if it is over."""
    rows = TopicSummary.objects.filter(tag=topic).annotate(now=Now())
    gone = [row.now - row.asked_at for row in rows if row.asked_at]
    return max([(cooldown() - each).total_seconds() for each in gone] + [0])


def gather(topic: str) -> Facts:
    """The newest guides of the topic and their first spots."""
    guides = list(finding.find_guides(topic)[:MOST_GUIDES])
    spots = finding.find_spots(topic, [guide.pk for guide in guides])
    guides_told = [
        {
            "title": str(guide),
            "destination": guide.destination,
            "spots": [
                {"name": spot.spot_name, "words": shorten(spot.description)}
                for spot in spots
                if spot.guide_id == guide.pk
            ],
        }
        for guide in guides
    ]
    return Facts(topic, guides_told, [guide.pk for guide in guides])


def shorten(text: str) -> str:
    return Truncator(" ".join(text.split())).chars(LONGEST_WORDS)


def request(facts: Facts, language: str) -> dict[str, Any]:
    named = {"language": language, "language_name": languages.name_of(language)}
    return prompts.request("topic", SCHEMA, MAX_TOKENS, **facts._asdict(), **named)


def price() -> prices.Price:
    """What the summaries of one topic cost at most, about."""
    number = len(languages.codes())
    return prices.of_requests(number, input_tokens=INPUT_TOKENS, output_tokens=MAX_TOKENS)
