"""The summaries of topics: what a page shows, and what people correct."""

from typing import ClassVar

from django.db import models, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from guides.derived import versions
from guides.derived.models import Version
from guides.models import Guide


class TopicSummary(models.Model):
    """What the site says of a topic, in one language; empty until the first text has come."""

    tag = models.TextField(_("topic"))
    language = models.CharField(_("language"), max_length=10)
    text = models.TextField(_("text"), blank=True, default="", db_default="")
    # Of the facts that were asked with last; empty if that came to nothing.
    source_hash = models.CharField(
        _("source hash"), max_length=64, blank=True, default="", db_default=""
    )
    # The guides whose words the text may repeat: it is shown while all of them are published.
    plan_ids = models.JSONField(_("made of"), default=list, db_default=[], blank=True)
    asked_at = models.DateTimeField(_("asked"), null=True, blank=True)
    corrected_at = models.DateTimeField(_("corrected"), null=True, blank=True)
    updated_at = models.DateTimeField(_("changed"), db_default=Now())

    class Meta:
        db_table = "topic_summaries"
        verbose_name = _("summary of a topic")
        verbose_name_plural = _("summaries of topics")
        constraints: ClassVar = [
            # Also serves the search for the summary that a page shows.
            models.UniqueConstraint(fields=["tag", "language"], name="one_summary_per_language"),
        ]
        indexes: ClassVar = [
            # The admin's list: changed last first.
            models.Index(fields=["-updated_at", "-id"], name="topic_summary_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.tag} ({self.language})"

    @property
    def unit(self) -> str:
        """Its name among the versions."""
        return versions.unit_of("topic", self.language, self.tag)


def find_shown(topic: str, language: str) -> TopicSummary | None:
    """The summary in this language, else in another one, unless a guide it is made of is gone."""
    written = TopicSummary.objects.filter(tag=topic).exclude(text="").order_by("language")
    found = sorted(written, key=lambda each: each.language != language)
    wanted = {plan_id for each in found for plan_id in each.plan_ids}
    published = Guide.objects.published().filter(pk__in=wanted)
    there = set(published.values_list("pk", flat=True)) if wanted else set()
    return next((each for each in found if there.issuperset(each.plan_ids)), None)


@transaction.atomic
def correct(summary: TopicSummary, text: str, by: object) -> None:
    """Show a person's text. It stays until the facts change or a person asks for a new one."""
    show_words(summary.tag, summary.language, text)
    versions.keep(summary.unit, {"text": text}, made_by=str(by))


@versions.puts_back("topic")
def put_back(version: Version) -> None:
    """Show an older text again; a person has chosen it, so it counts as corrected."""
    _kind, language, topic = version.unit.split(":", 2)
    show_words(topic, language, version.payload["text"])


@versions.shows("topic")
def shown(unit: str) -> dict[str, str] | None:
    _kind, language, topic = unit.split(":", 2)
    rows = TopicSummary.objects.filter(tag=topic, language=language)
    return next(({"text": row.text} for row in versions.lockable(rows) if row.text), None)


def show_words(topic: str, language: str, text: str) -> None:
    rows = TopicSummary.objects.filter(tag=topic, language=language)
    rows.update(text=text, corrected_at=Now(), updated_at=Now())
