"""The texts of guides in other languages, and the job that keeps them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from guides.derived import commissions, versions
from guides.derived.commissions import Keeper
from guides.derived.models import Commission
from guides.models import Guide
from guides.translation import checking
from guides.translation.checking import Fault
from jobs.llm.models import LLMJob
from jobs.models import Status


class State(models.TextChoices):
    """What is going on with a text; whether its translation is up to date is another question."""

    IDLE = "idle", _("idle")
    ASKED = "asked", _("under way")
    FAILED = "failed", _("failed")


class GuideTranslation(models.Model):
    """One text of a guide in one other language.

    It is current as long as `source_hash` is that of the original. What a person corrects has the
    hash of the original that the person saw, so it stays until the original changes.
    """

    guide = models.ForeignKey(
        Guide,
        on_delete=models.CASCADE,
        related_name="translations",
        db_column="plan_id",
        verbose_name=_("guide"),
    )
    language = models.CharField(_("language"), max_length=10)
    key = models.CharField(_("text"), max_length=100, help_text=_("title, spot:12:name, …"))
    text = models.TextField(_("translation"), blank=True, default="", db_default="")
    source_hash = models.CharField(
        _("hash of its original"), max_length=64, blank=True, default="", db_default=""
    )
    state = models.TextField(
        _("state"), choices=State.choices, default=State.IDLE, db_default=State.IDLE
    )
    # Of the last request: the hash of what was sent, by which process, and why it was refused.
    asked_hash = models.CharField(
        _("hash that was asked for"), max_length=64, blank=True, default="", db_default=""
    )
    process_id = models.UUIDField(_("process"), null=True, blank=True)
    fault = models.TextField(
        _("fault"), choices=Fault.choices, blank=True, default="", db_default=""
    )
    made_by = models.TextField(_("made by"), blank=True, default="", db_default="")
    updated_at = models.DateTimeField(_("changed"), db_default=Now())

    class Meta:
        db_table = "guide_translations"
        verbose_name = _("translation")
        verbose_name_plural = _("translations")
        constraints: ClassVar = [
            # Also serves every page: the texts of one guide, or of the guides on home.
            models.UniqueConstraint(
                fields=["guide", "language", "key"], name="one_translation_per_text"
            ),
            models.CheckConstraint(name="translation_state", condition=Q(state__in=State.values)),
        ]

    def __str__(self) -> str:
        return f"{self.guide_id} {self.key} ({self.language})"

    @property
    def unit(self) -> str:
        return versions.unit_of("translation", self.language, self.guide_id, self.key)

    def show(self, text: str, source_hash: str, made_by: str) -> None:
        """Make this the translation of an original; what is still on its way changes it no more."""
        self.text, self.source_hash, self.made_by = text, source_hash, made_by
        self.state, self.fault, self.updated_at = State.IDLE, "", Now()

    def refuse(self, fault: Fault) -> None:
        self.state, self.fault, self.updated_at = State.FAILED, fault, Now()

    def forget_request(self) -> None:
        """No answer came: it can be asked for again, also automatically."""
        self.state, self.fault, self.asked_hash, self.updated_at = State.IDLE, "", "", Now()


WRITTEN = ("text", "source_hash", "made_by", "state", "fault", "asked_hash", "updated_at")


class KeepTranslations(Keeper):
    """Keeps the translations of a guide into one language, when the last one has come."""

    plan_id = models.TextField(_("plan id"))
    language = models.CharField(_("language"), max_length=10)
    texts = models.JSONField(_("texts"))  # of each request the key, and its most characters

    slice = "translation"
    is_housekeeping = True
    timeout = timedelta(minutes=5)

    class Meta(Keeper.Meta):
        db_table = "keep_translations"
        verbose_name = _("keeping of translations")
        verbose_name_plural = _("keeping of translations")

    def __str__(self) -> str:
        return f"{self.plan_id} ({self.language})"

    def rows(self) -> QuerySet[GuideTranslation]:
        return GuideTranslation.objects.filter(guide=self.plan_id, language=self.language)

    def keep(self, answers: Sequence[LLMJob], commission: Commission) -> None:
        """Save what can be used. The guide may be gone, or a text asked for anew since."""
        rows = {row.key: row for row in self.rows().order_by("pk").select_for_update()}
        awaited = [row for row in rows.values() if self.is_awaited(row)]
        for answer in answers:
            key, most = self.texts[answer.position]
            if row := rows.get(key):
                self.keep_one(row, answer, most)
        for row in awaited:  # whose request a program deleted past the queue
            if row.state == State.ASKED:
                row.forget_request()
        GuideTranslation.objects.bulk_update(awaited, WRITTEN, batch_size=200)

    def is_awaited(self, row: GuideTranslation) -> bool:
        return row.process_id == self.asked and row.state == State.ASKED

    def keep_one(self, row: GuideTranslation, answer: LLMJob, most: int) -> None:
        """Show the answer, unless a person has corrected the text since: then it is a version."""
        made_by = commissions.maker_of(answer)
        if answer.status == Status.SUCCEEDED:
            words, fault = checking.checked(words_of(answer), row.key, self.language, most)
        else:
            words, fault = "", Fault.REQUEST
        if words:
            payload = {"text": words}
            versions.keep(
                row.unit, payload, made_by=made_by, job_id=answer.id, process_id=self.asked
            )
        if not self.is_awaited(row):
            return
        if words:
            row.show(words, row.asked_hash, made_by)
        elif answer.status == Status.CANCELED:
            row.forget_request()
        else:
            row.refuse(fault)

    # No page may wait for ever: whatever becomes of this job, its texts say so.

    def gave_up(self, reason: str) -> None:
        waiting = self.rows().filter(process_id=self.asked, state=State.ASKED)
        waiting.update(state=State.FAILED, fault=Fault.NOT_KEPT)

    def resumed(self) -> None:
        mine = self.rows().filter(process_id=self.asked, state=State.FAILED, fault=Fault.NOT_KEPT)
        mine.update(state=State.ASKED, fault="")


def words_of(answer: LLMJob) -> Any:
    data = (answer.response_json or {}).get("data")
    return data.get("translation") if isinstance(data, dict) else None
