"""Asking for the translations that a guide lacks."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from guides import languages
from guides.derived import prices, prompts
from guides.derived.commissions import ask as commission
from guides.derived.models import Commission
from guides.derived.prices import Price
from guides.models import Guide
from guides.translation import sheets
from guides.translation.models import GuideTranslation, KeepTranslations, State
from guides.translation.sheets import Line, Sheet, Stand
from guides.translation.texts import NAME, Source, is_of_spot, kind_of
from jobs import llm

SCHEMA = prompts.texts("translation")
WANTED = {Stand.MISSING, Stand.OUTDATED}
# A failed text is asked for again only by a person: by itself it would fail again and again.
WANTED_BY_A_PERSON = WANTED | {Stand.FAILED}
INSTRUCTIONS = 350  # tokens of a request without its text
LEAST_TOKENS = 1_000  # of an answer; some models think within their limit
ASKED = ("state", "asked_hash", "process_id", "fault", "updated_at")


@transaction.atomic
def ask(plan_id: str, language: str, *, by: object = "") -> int:
    """Ask for the texts that have no current translation; returns how many they are.

    The guide is locked, so of any number of callers at once one asks, and the others find that
    the texts are under way. Without `by`, this follows by itself.
    """
    published = Guide.objects.published().select_for_update(no_key=True)
    guide = published.filter(pk=plan_id).first()
    if guide is None or language not in languages.other_than(guide.spoken):
        return 0
    sheet = sheets.of_guide(guide, guide.spots.all())[language]
    forget_removed(guide, sheet)
    wanted = [line.source for line in lacking(sheet, bool(by))]
    if wanted:
        note_asked(guide, language, wanted, submit(guide, language, wanted, by))
    return len(wanted)


def lacking(sheet: Sheet, is_person: bool) -> list[Line]:
    stands = WANTED_BY_A_PERSON if is_person else WANTED
    return [line for line in sheet.lines if line.stand in stands]


def forget_removed(guide: Guide, sheet: Sheet) -> None:
    """Delete the translations of spots that are gone; their versions stay."""
    rows = GuideTranslation.objects.filter(guide=guide, language=sheet.language)
    rows.exclude(key__in=[line.source.key for line in sheet.lines]).delete()


def submit(guide: Guide, language: str, wanted: Sequence[Source], by: object) -> Commission:
    keeper = KeepTranslations(
        plan_id=guide.pk,
        language=language,
        texts=[[source.key, source.most] for source in wanted],
    )
    requests = [request(guide, source, language) for source in wanted]
    subject = f"{guide} → {language}"
    return commission(requests, keeper, subject=subject, plan_id=guide.pk, by=by)


def note_asked(guide: Guide, language: str, wanted: Sequence[Source], asked: Commission) -> None:
    rows = [
        GuideTranslation(
            guide=guide,
            language=language,
            key=source.key,
            state=State.ASKED,
            asked_hash=source.hash,
            process_id=asked.pk,
            updated_at=Now(),
        )
        for source in wanted
    ]
    GuideTranslation.objects.bulk_create(
        rows,
        batch_size=500,
        update_conflicts=True,
        unique_fields=["guide", "language", "key"],
        update_fields=ASKED,
    )


def request(guide: Guide, source: Source, language: str) -> dict[str, Any]:
    return prompts.request(
        "translation",
        SCHEMA,
        most_tokens(source),
        kind=kind_of(source.key),
        is_name=kind_of(source.key) in (NAME, "destination"),
        text=source.text,
        code=language,
        target=languages.name_of(language),
        origin=languages.name_of(source.language),
        destination=guide.destination if is_of_spot(source.key) else "",
    )


def most_tokens(source: Source) -> int:
    return LEAST_TOKENS + 2 * len(source.text)


def price(wanted: Sequence[Source]) -> Price:
    """About what these texts cost: a letter is at most a token, and so is its translation."""
    length = sum(len(source.text) for source in wanted)
    each = length // len(wanted) + 1 if wanted else 0
    return prices.of_requests(
        len(wanted), input_tokens=INSTRUCTIONS + each, output_tokens=20 + each
    )


def stop(plan_id: str, by: object) -> None:
    """Ask for nothing more of a guide that is withdrawn or deleted; what has come is kept."""
    open = Commission.objects.filter(plan_id=plan_id, slice=KeepTranslations.slice, kept_at=None)
    for process_id in open.order_by("pk").values_list("pk", flat=True):
        llm.cancel(process_id, by=by)
