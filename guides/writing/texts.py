"""The texts that models write: their units, their paragraphs, and who wrote what stands there."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.utils.translation import gettext as _

from guides import services
from guides.derived import versions
from guides.derived.models import Version
from guides.derived.versions import payload_hash, unit_of
from guides.models import Guide, SpotDetail

GAP = re.compile(r"\n\s*\n")


def unit(row: Guide | SpotDetail) -> str:
    return unit_of("guide" if isinstance(row, Guide) else "spot", row.pk)


def payload(row: Guide | SpotDetail) -> dict[str, Any]:
    if isinstance(row, Guide):
        return {"title": row.title, "summary": row.summary}
    return {"description": row.description, "topic_tags": row.topic_tags}


def paragraphs(text: str) -> list[str]:
    return [each for each in GAP.split(text.replace("\r\n", "\n").strip()) if each.strip()]


def with_paragraph(text: str, number: int | None, new: str) -> str:
    """The text with another paragraph in this place; None: the new one instead of all."""
    if number is None:
        return new
    old = paragraphs(text)
    old[number] = " ".join(new.split())
    return "\n\n".join(old)


def written(rows: Sequence[Guide | SpotDetail]) -> dict[str, Version]:
    """By unit: the latest version that a model made."""
    units = [unit(row) for row in rows]
    # A version that came with a request is a model's; one that was put back is a person's.
    of_models = Version.objects.filter(job_id__isnull=False)
    last = of_models.filter(unit=OuterRef("unit")).order_by("-version").values("pk")[:1]
    found = of_models.filter(unit__in=units, pk=Subquery(last))
    return {version.unit: version for version in found}


def is_untouched(row: Guide | SpotDetail, known: Mapping[str, Version]) -> bool:
    """Whether what stands there is what a model wrote last."""
    version = known.get(unit(row))
    return version is not None and version.payload_hash == payload_hash(payload(row))


def mark(row: Guide | SpotDetail, known: Mapping[str, Version]) -> str:
    """For staff: who wrote this text; empty if no model ever wrote it."""
    version = known.get(unit(row))
    if version is None:
        return ""
    words = _("written by %s, unchanged") if is_untouched(row, known) else _("edited since %s")
    return words % version.made_by


def rows_of(unit: str) -> QuerySet[Any]:
    """The guide or the spot that a unit names; none if it was deleted."""
    kind, _colon, key = unit.partition(":")
    return Guide.objects.filter(pk=key) if kind == "guide" else SpotDetail.objects.filter(pk=key)


@versions.shows("guide")
@versions.shows("spot")
def shown(unit: str) -> dict[str, Any] | None:
    return next((payload(row) for row in versions.lockable(rows_of(unit))), None)


@versions.puts_back("guide")
@versions.puts_back("spot")
def put_back(version: Version) -> None:
    row = rows_of(version.unit).get()
    columns = {name: version.payload[name] for name in payload(row)}
    type(row).objects.filter(pk=row.pk).update(**columns)
    services.note_saved(row if isinstance(row, Guide) else row.guide, "updated")
