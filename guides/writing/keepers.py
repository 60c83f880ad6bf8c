"""The jobs that keep what models answered: the outline first, then the texts."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.db import models
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from guides import services
from guides.derived import commissions
from guides.derived.commissions import Keeper
from guides.derived.models import Commission
from guides.derived.plain_text import plain
from guides.images import WITHDRAWN
from guides.models import Guide, SpotDetail
from guides.writing import checks, requests, saving, texts
from guides.writing.checks import Unusable
from guides.writing.models import OPEN, Manuscript, PlannedSpot, SpotState, State
from jobs.llm.models import LLMJob

NO_TEXTS = gettext_noop("None of its texts could be used.")
LONGEST_ERROR = 500


class WritingKeeper(Keeper):
    """Its manuscript is the one that waits for its process. None does: the answers are too late."""

    slice = "writing"
    is_housekeeping = True

    stage: ClassVar[State]

    class Meta(Keeper.Meta):
        abstract = True

    def keep(self, answers: Sequence[LLMJob], commission: Commission) -> None:
        manuscript = find_waiting(self.manuscripts())
        if manuscript is not None:
            self.keep_for(manuscript, answers, commission)

    def keep_for(
        self, manuscript: Manuscript, answers: Sequence[LLMJob], commission: Commission
    ) -> None:
        raise NotImplementedError

    def manuscripts(self) -> QuerySet[Manuscript]:
        return Manuscript.objects.filter(process_id=self.asked)

    # A page must not wait for a job that has given up.

    def resumed(self) -> None:
        again = self.manuscripts().filter(state=State.FAILED)
        again.update(state=self.stage, error="", ended_at=None)

    def gave_up(self, reason: str) -> None:
        for manuscript in self.manuscripts().filter(state__in=OPEN):
            fail(manuscript, reason)


class KeepOutline(WritingKeeper):
    """Keeps an outline, and asks for the text of each of its spots."""

    stage = State.OUTLINE

    class Meta(Keeper.Meta):
        db_table = "keep_outline_jobs"
        verbose_name = _("keeping of an outline")
        verbose_name_plural = _("keeping of outlines")

    def keep_for(
        self, manuscript: Manuscript, answers: Sequence[LLMJob], commission: Commission
    ) -> None:
        guide = manuscript.guide
        if guide.withdrawn_at:  # nothing more is bought for it
            return fail(manuscript, WITHDRAWN)
        if not answers:
            return fail(manuscript, checks.UNANSWERED)
        try:
            outline = checks.outline_of(answers[0], manuscript.spots, manuscript.language)
        except Unusable as error:
            return fail(manuscript, str(error))
        self.name_guide(manuscript, outline, answers[0], commission)
        planned = plan_spots(manuscript, outline)
        return ask_texts(
            manuscript,
            [requests.spot(manuscript, guide.title, each) for each in planned],
            [{"kind": "planned", "planned": each.pk} for each in planned],
            by=commission.asked_by,
        )

    def name_guide(
        self,
        manuscript: Manuscript,
        outline: checks.Outline,
        answer: LLMJob,
        commission: Commission,
    ) -> None:
        """Set title and summary, each only if no person has written it meanwhile."""
        guide = manuscript.guide
        model_wrote = texts.is_untouched(guide, texts.written([guide]))
        if outline.title and (model_wrote or guide.title == manuscript.destination):
            guide.title = outline.title
        if outline.summary and (model_wrote or not guide.summary):
            guide.summary = outline.summary
        row = Guide.objects.filter(pk=guide.pk)
        row.update(title=guide.title, summary=guide.summary)
        told = {"title": outline.title or guide.title, "summary": outline.summary}
        saving.keep_version(guide, told, answer, commission)


class KeepTexts(WritingKeeper):
    """Keeps texts: of planned spots, which come to exist with them, and of what staff asked for."""

    # What each request is about, by its position: see `asking`.
    targets = models.JSONField(_("texts"), default=list, editable=False)

    stage = State.TEXTS

    class Meta(Keeper.Meta):
        db_table = "keep_texts_jobs"
        verbose_name = _("keeping of texts")
        verbose_name_plural = _("keeping of texts")

    def keep_for(
        self, manuscript: Manuscript, answers: Sequence[LLMJob], commission: Commission
    ) -> None:
        brought = {answer.position: answer for answer in answers}
        pairs = [(each, brought.get(n)) for n, each in enumerate(self.targets)]
        new = [pair for pair in pairs if pair[0]["kind"] == "planned"]
        again = [pair for pair in pairs if pair[0]["kind"] != "planned"]
        created = self.keep_planned(manuscript, new, commission)
        results = [saving.keep_again(manuscript, *pair, commission) for pair in again]
        if created or any(result is True for result in results):
            services.note_saved(manuscript.guide, "updated")
        reasons = [result for result in results if isinstance(result, str)]
        end(manuscript, reasons)

    def keep_planned(
        self, manuscript: Manuscript, pairs: list[Any], commission: Commission
    ) -> list[SpotDetail]:
        """Save the spots whose text can be used. A spot that a person has made stays as it is."""
        guide = manuscript.guide
        taken = {checks.same(name) for name in guide.spots.values_list("spot_name", flat=True)}
        rows = manuscript.planned.in_bulk()
        made: list[tuple[SpotDetail, LLMJob]] = []
        for target, answer in pairs:
            row = rows.get(target["planned"])
            if row is None:
                continue
            try:
                text = saving.read(answer, "description", manuscript)
            except Unusable as error:
                row.state, row.error = SpotState.FAILED, plain(str(error), LONGEST_ERROR)
                continue
            row.state, row.error = SpotState.WRITTEN, ""
            if answer and checks.same(row.name) not in taken:
                taken.add(checks.same(row.name))
                made.append((saving.spot_of(guide, row, text), answer))
        PlannedSpot.objects.bulk_update(rows.values(), ["state", "error"])
        saving.save_spots(guide, [spot for spot, _answer in made])
        for spot, answer in made:
            saving.keep_version(spot, texts.payload(spot), answer, commission)
        return [spot for spot, _answer in made]

    def resumed(self) -> None:
        super().resumed()
        planned = [each["planned"] for each in self.targets if each["kind"] == "planned"]
        waiting = PlannedSpot.objects.filter(pk__in=planned, manuscript__in=self.manuscripts())
        waiting.filter(state=SpotState.FAILED).update(state=SpotState.WRITING, error="")


# What both do


def find_waiting(manuscripts: QuerySet[Manuscript]) -> Manuscript | None:
    """The manuscript, locked after its guide, as whoever hands over or withdraws a guide does."""
    plan_ids = list(manuscripts.values_list("guide_id", flat=True))
    for guide in Guide.objects.select_for_update(no_key=True).filter(pk__in=plan_ids):
        for manuscript in manuscripts.select_for_update().filter(state__in=OPEN):
            manuscript.guide = guide
            return manuscript
    return None


def plan_spots(manuscript: Manuscript, outline: checks.Outline) -> list[PlannedSpot]:
    """An outline that was asked for again replaces what nobody has written yet."""
    manuscript.planned.all().delete()
    return PlannedSpot.objects.bulk_create(
        PlannedSpot(manuscript=manuscript, position=n, **spot._asdict())
        for n, spot in enumerate(outline.spots)
    )


def ask_texts(
    manuscript: Manuscript, asked: Sequence[Any], targets: list[dict[str, Any]], *, by: object
) -> None:
    """Submit one request per text; from now on the manuscript waits for them."""
    commission = commissions.ask(
        asked,
        KeepTexts(targets=targets),
        subject=manuscript.destination,
        plan_id=manuscript.guide_id,
        by=by,
    )
    manuscript.state, manuscript.process_id = State.TEXTS, commission.pk
    manuscript.error, manuscript.ended_at = "", None
    manuscript.save()


def end(manuscript: Manuscript, reasons: list[str]) -> None:
    """A guide without any spot is not written; one that lacks a few is."""
    if not manuscript.guide.spots.exists():
        first = manuscript.planned.exclude(error="").values_list("error", flat=True).first()
        return fail(manuscript, first or NO_TEXTS)
    manuscript.state, manuscript.ended_at = State.DONE, Now()
    manuscript.error = next(iter(reasons), "")
    return manuscript.save()


def fail(manuscript: Manuscript, reason: str) -> None:
    reason = plain(reason, LONGEST_ERROR)
    waiting = manuscript.planned.filter(state=SpotState.WRITING)
    waiting.update(state=SpotState.FAILED, error=reason)
    # Not save(), which would insert a row that was deleted meanwhile.
    row = Manuscript.objects.filter(pk=manuscript.pk, process_id=manuscript.process_id)
    row.update(state=State.FAILED, error=reason, ended_at=Now())
