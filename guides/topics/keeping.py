"""What models answer about a topic: looked at, and kept as its summaries."""

from collections.abc import Sequence
from typing import Any

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from guides import languages
from guides.derived import commissions, plain_text, versions
from guides.derived.models import Commission
from guides.topics.summaries import TopicSummary
from jobs.llm.models import LLMJob
from jobs.models import Status

LONGEST = 900  # characters of a summary


class KeepTopic(commissions.Keeper):
    """Keeps the summaries of a topic."""

    tag = models.TextField(_("topic"))
    languages = models.JSONField(_("languages"), default=list)  # in the order of the requests
    source_hash = models.CharField(_("source hash"), max_length=64)
    plan_ids = models.JSONField(_("made of"), default=list)

    slice = "topics"
    is_housekeeping = True

    class Meta(commissions.Keeper.Meta):
        abstract = False
        db_table = "keep_topic_jobs"
        verbose_name = _("keeping of a topic’s summaries")
        verbose_name_plural = _("keepings of topics’ summaries")

    def __str__(self) -> str:
        return self.tag

    def keep(self, answers: Sequence[LLMJob], commission: Commission) -> None:
        rows = {row.language: row for row in self.rows().order_by("language").select_for_update()}
        brought = {self.languages[answer.position]: answer for answer in answers}
        for language, row in rows.items():
            # A newer request has other facts: its answer counts, also if it comes first.
            if row.source_hash in (self.source_hash, ""):
                self.keep_answer(row, brought.get(language), commission)

    def keep_answer(self, row: TopicSummary, answer: LLMJob | None, commission: Commission) -> None:
        # Requeued after a success, a request that failed may still have the old answer.
        has_succeeded = answer is not None and answer.status == Status.SUCCEEDED
        text = read(answer.response_json, row) if answer and has_succeeded else ""
        if not answer or not text:
            row.source_hash = ""  # nothing came of it: the next refresh asks again
            row.save(update_fields=["source_hash"])
            return
        maker = commissions.maker_of(answer)
        origin = {"made_by": maker, "job_id": answer.id, "process_id": commission.pk}
        versions.keep(row.unit, {"text": text}, **origin)  # type: ignore[arg-type]
        row.source_hash = self.source_hash
        if row.corrected_at is None or row.corrected_at < commission.created_at:
            row.text, row.plan_ids, row.corrected_at = text, self.plan_ids, None
            row.updated_at = Now()
        row.save(update_fields=["text", "plan_ids", "corrected_at", "updated_at", "source_hash"])

    def rows(self) -> models.QuerySet[TopicSummary]:
        return TopicSummary.objects.filter(tag=self.tag, language__in=self.languages)

    # The answers are not kept after all: the next refresh asks again.

    def gave_up(self, reason: str) -> None:
        self.rows().filter(source_hash=self.source_hash).update(source_hash="")


def read(answered: Any, row: TopicSummary) -> str:
    """The summary in an answer; empty if it is failed, empty, HTML or in another language."""
    data = answered.get("data") if isinstance(answered, dict) else None
    said = data.get("summary") if isinstance(data, dict) else None
    if not isinstance(said, str) or plain_text.TAG.search(said):
        return ""
    text = plain_text.plain(said, LONGEST, lines=True)
    # The topic's own name may be in any language.
    return text if languages.can_be(text.replace(row.tag, ""), row.language) else ""
