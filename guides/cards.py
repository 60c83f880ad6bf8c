"""Guides as cards, on home, on the pages of topics and of weeks."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, OuterRef, Subquery, Value, When
from django.utils.translation import gettext as _

from guides.later import slow_guides, tell_later
from guides.models import PAINTED, Guide, SpotDetail
from guides.status import code, short
from guides.translation import reading
from guides.translation.sheets import Said, Sheet
from guides.writing_status import WritingStatus, find_when, status_of


@dataclass(frozen=True)
class Card:
    """A guide on the home page."""

    guide: Guide
    cover: SpotDetail | None
    sheet: Sheet
    is_final: bool
    is_slow: bool = False  # all that is still to come comes by batch
    writing: WritingStatus | None = None

    @property
    def title(self) -> Said:
        return reading.said(self.sheet, "title", str(self.guide))

    @property
    def destination(self) -> Said:
        return reading.said(self.sheet, "destination")

    @property
    def summary(self) -> Said:
        return reading.said(self.sheet, "summary")

    @property
    def is_going(self) -> bool:
        return not self.is_final

    @property
    def words(self) -> str:
        """How far the writing is. No numbers: they would need a query per card."""
        return _("Being written") if self.is_going else _("Not written yet")

    @property
    def code(self) -> str:
        """Changes when the card changes."""
        cover = f"{self.cover.pk} {code(self.cover).lower()}" if self.cover else ""
        ready, total = self.guide.ready_count, self.guide.spot_count  # type: ignore[attr-defined]
        writing = f" {self.writing.state} {self.guide.title}" if self.writing else ""
        return short(f"{ready} {total} {self.is_final} {self.is_slow} {cover}{writing}")


def find_cards(plan_ids: list[str]) -> list[Card]:
    """The cards in this order; the number of queries does not depend on how many there are."""
    found = Guide.objects.published().filter(pk__in=plan_ids).with_progress()
    guides = found.select_related("manuscript").in_bulk()
    covers = find_covers(plan_ids)
    unsettled = SpotDetail.objects.unsettled().filter(guide__in=plan_ids).order_by()
    painting = set(unsettled.values_list("guide_id", flat=True))
    tell_later(covers[pk] for pk in painting & covers.keys())
    sheets = reading.tell_all(
        (guide, [covers[pk]] if pk in covers else []) for pk, guide in guides.items()
    )
    writing = find_writing(guides.values())
    written = {pk for pk, status in writing.items() if status.is_open}
    quick = (painting - slow_guides(painting)) | (written - slowly_written(writing))
    going = painting | written
    return [
        Card(
            guides[pk],
            covers.get(pk),
            sheets[pk],
            is_final=pk not in going,
            is_slow=pk in going - quick,
            writing=writing.get(pk),
        )
        for pk in plan_ids
        if pk in guides
    ]


def find_writing(guides: Iterable[Any]) -> dict[str, WritingStatus]:
    """Of the guides that are being written, or could not be: read with them, in one query."""
    found = {
        guide.pk: status_of(guide.manuscript, has_spots=bool(guide.spot_count))
        for guide in guides
        if hasattr(guide, "manuscript")
    }
    return {pk: status for pk, status in found.items() if status}


def slowly_written(writing: dict[str, WritingStatus]) -> set[str]:
    """Those whose texts come by batch; two queries, and none while nothing is being written."""
    by_process = {each.manuscript.process_id: pk for pk, each in writing.items() if each.is_open}
    when = find_when(filter(None, by_process))
    return {by_process[id] for id, words in when.items() if words in ("tomorrow", "late")}


def unfinished(cards: Iterable[Card]) -> dict[str, Any]:
    """The cards that still change, and whether all of them change slowly."""
    going = [card for card in cards if not card.is_final]
    return {"unfinished": going, "is_slow": bool(going) and all(card.is_slow for card in going)}


def find_covers(plan_ids: list[str]) -> dict[str, SpotDetail]:
    """For each guide the first spot with a picture, or else the first spot."""
    pictures_first = (
        SpotDetail.objects.filter(guide=OuterRef("pk"))
        .annotate(unpainted=Case(When(PAINTED, then=Value(0)), default=Value(1)))
        .order_by("unpainted", "position", "id")
    )
    chosen = Guide.objects.filter(pk__in=plan_ids).annotate(
        cover=Subquery(pictures_first.values("pk")[:1])
    )
    spots = SpotDetail.objects.with_jobs().filter(pk__in=chosen.values("cover"))
    return {spot.guide_id: spot for spot in spots}
