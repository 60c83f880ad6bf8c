"""Translations that a person corrects, or chooses among their versions."""

from django.db import connection, transaction

from guides.derived import versions
from guides.derived.models import Version
from guides.derived.versions import CantPutBack
from guides.models import Guide
from guides.translation.models import GuideTranslation
from guides.translation.texts import source_of


@transaction.atomic
def correct(row: GuideTranslation, text: str, source_hash: str, by: object) -> None:
    """Show a person's words from now on, as the translation of the original that they saw.

    An answer that is still on its way does not replace them; it becomes a version.
    """
    for locked in GuideTranslation.objects.select_for_update().filter(pk=row.pk):
        locked.show(text, source_hash, str(by))
        locked.save()
        versions.keep(locked.unit, {"text": text}, made_by=str(by))


@versions.puts_back("translation")
def put_back(version: Version) -> None:
    """Show an older version as the translation of today's original."""
    _kind, language, plan_id, key = version.unit.split(":", 3)
    for guide in Guide.objects.select_for_update(no_key=True).filter(pk=plan_id):
        source = source_of(guide, key)
        if source is None:
            raise CantPutBack(f"{version.unit}: the guide has no such text any more.")
        rows = GuideTranslation.objects.select_for_update()
        for row in rows.filter(guide=guide, language=language, key=key):
            row.show(version.payload["text"], source.hash, version.made_by)
            row.save()


@versions.shows("translation")
def shown(unit: str) -> dict[str, str] | None:
    _kind, language, plan_id, key = unit.split(":", 3)
    if connection.in_atomic_block:  # the guide first, as whoever asks for translations does
        list(Guide.objects.select_for_update(no_key=True).filter(pk=plan_id))
    rows = GuideTranslation.objects.filter(guide=plan_id, language=language, key=key)
    return next(({"text": row.text} for row in versions.lockable(rows) if row.text), None)
