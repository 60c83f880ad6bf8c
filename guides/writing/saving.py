"""How texts get into a guide, in the transaction that takes them from the queue."""

from typing import Any

from guides.derived import commissions, versions
from guides.derived.models import Commission
from guides.images import WITHDRAWN
from guides.models import Guide, SpotDetail, SpotImageJob
from guides.writing import checks, texts
from guides.writing.checks import Unusable
from guides.writing.models import Manuscript, PlannedSpot
from jobs import queue
from jobs.llm.models import LLMJob


def read(answer: LLMJob | None, name: str, manuscript: Manuscript) -> str:
    if answer is None:
        raise Unusable(checks.UNANSWERED)
    return checks.text_of(answer, name, checks.LONGEST_TEXT, manuscript.language)


def spot_of(guide: Guide, planned: PlannedSpot, text: str) -> SpotDetail:
    return SpotDetail(
        guide=guide,
        spot_name=planned.name,
        description=text,
        topic_tags=planned.tags,
        position=planned.position,
    )


def save_spots(guide: Guide, spots: list[SpotDetail]) -> None:
    """Save them with their jobs. Those of a withdrawn guide wait until it is published again."""
    SpotDetail.objects.bulk_create(spots)
    if guide.withdrawn_at:
        names = [spot.spot_name for spot in spots]
        jobs = SpotImageJob.objects.filter(plan_id=guide.pk, spot_name__in=names)
        queue.cancel(jobs, WITHDRAWN, by="its guide")


def keep_again(
    manuscript: Manuscript, target: dict[str, Any], answer: LLMJob | None, commission: Commission
) -> bool | str:
    """Replace a text unless it was changed since it was asked for; returns True, or why it was not.

    If a person has edited it since, theirs stays, and the new one is kept as a version.
    """
    try:
        new = read(answer, target["answer"], manuscript)
    except Unusable as error:
        return str(error)
    row = find_row(manuscript, target)
    if row is None or answer is None:
        return False
    is_same: bool = versions.payload_hash(texts.payload(row)) == target["hash"]
    text = texts.with_paragraph(target["text"], target["number"], new)
    column = "summary" if isinstance(row, Guide) else "description"
    told = {**texts.payload(row), column: text}
    keep_version(row, told, answer, commission)
    if is_same:
        type(row).objects.filter(pk=row.pk).update(**{column: text})
    return is_same


def find_row(manuscript: Manuscript, target: dict[str, Any]) -> Guide | SpotDetail | None:
    if target["kind"] == "summary":
        return manuscript.guide
    return manuscript.guide.spots.select_for_update().filter(pk=target["spot"]).first()


def keep_version(
    row: Guide | SpotDetail, told: dict[str, Any], answer: LLMJob, commission: Commission
) -> None:
    versions.keep(
        texts.unit(row),
        told,
        made_by=commissions.maker_of(answer),
        job_id=answer.id,
        process_id=commission.pk,
    )
