"""A person wishes for a guide, or does not want it any more."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from django.db import transaction
from django.db.models.signals import pre_delete
from django.dispatch import receiver

from guides import services
from guides.derived import commissions
from guides.models import Guide
from guides.writing import keepers, requests
from guides.writing.models import (
    USUAL_DAYS,
    USUAL_SPOTS,
    WISHES,
    Manuscript,
    State,
    Tone,
)
from jobs import llm


class AlreadyThere(Exception):
    """There is a guide of this id, and it is another one than asked for."""


class Wish(NamedTuple):
    """What a guide shall be about."""

    destination: str
    language: str
    days: int = USUAL_DAYS
    spots: int = USUAL_SPOTS
    interests: str = ""
    tone: str = Tone.CALM


@transaction.atomic
def write_guide(
    guide: Guide, wish: Wish, *, by: object, book: Callable[[int], None] | None = None
) -> Literal["created", "unchanged"]:
    """Let a guide be written: it exists at once, and its outline is asked for.

    The same wish for the same plan id again changes nothing; anything else that is there already
    raises AlreadyThere. `book` is told how many pictures will follow; if it raises, nothing is
    saved.
    """
    guide.title = guide.destination = wish.destination
    guide.language = wish.language
    facts = {name: getattr(guide, name) for name in (*services.GUIDE_COLUMNS, "language", "draft")}
    locked = Guide.objects.select_for_update(no_key=True)
    stored, is_new = locked.get_or_create(pk=guide.plan_id, defaults=facts)
    if not is_new:
        check_same(stored, wish)
        if book:
            book(0)
        return "unchanged"
    manuscript = Manuscript(guide=stored, asked_by=str(by), **wish._asdict())
    ask_outline(manuscript, by)
    services.note_saved(stored, "created")
    if book:
        book(wish.spots)
    return "created"


def check_same(stored: Guide, wish: Wish) -> None:
    manuscript = Manuscript.objects.filter(guide=stored).first()
    known = {name: getattr(manuscript, name, None) for name in WISHES}
    if stored.withdrawn_at or known != wish._asdict():
        raise AlreadyThere(stored.pk)


def ask_outline(manuscript: Manuscript, by: object) -> None:
    commission = commissions.ask(
        [requests.outline(manuscript)],
        keepers.KeepOutline(),
        subject=manuscript.destination,
        plan_id=manuscript.guide_id,
        by=by,
    )
    manuscript.state, manuscript.process_id = State.OUTLINE, commission.pk
    manuscript.error, manuscript.ended_at = "", None
    manuscript.save()


# Not any more


def stop(plan_id: str) -> None:
    """Ask for nothing more of this guide. What has been answered is kept."""
    for manuscript in Manuscript.objects.filter(guide=plan_id):
        stop_asking(manuscript)


def forget(plan_id: str) -> None:
    """The guide is a person's now: what models still bring comes too late.

    In the transaction that makes it theirs, and after it has locked the guide.
    """
    for manuscript in Manuscript.objects.filter(guide=plan_id):
        stop_asking(manuscript)
        manuscript.delete()


def stop_asking(manuscript: Manuscript) -> None:
    if manuscript.is_open and manuscript.process_id:
        llm.cancel(manuscript.process_id, by="its guide")


@receiver(pre_delete, sender=Guide)
def stop_with_guide(instance: Guide, **_kwargs: Any) -> None:
    stop(instance.pk)
