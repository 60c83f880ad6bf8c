"""What a person asks for. Views, admin and commands call these; none of them writes on its own."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce, Now

from guides.images import WITHDRAWN
from guides.models import (
    PAINTED,
    Guide,
    ImageStatus,
    SpotDetail,
    SpotImage,
    SpotImageJob,
    enqueue_missing,
    show_picture,
)
from guides.models.spot import DELETED
from guides.strategies import PictureStrategy
from jobs import events, queue
from jobs.models import ENDED, Call, State, Status
from jobs.paid.batches import asked

GUIDE_COLUMNS = ("title", "destination", "summary", "picture_style", "picture_strategy")
SPOT_COLUMNS = ("description", "topic_tags", "position")
MOST_PUBLISHED = 100  # guides in one transaction
SITE = "tabie"  # the source of this site's own events
GUIDE_SAVED = "guide.saved"


class Handover(NamedTuple):
    """The result of handing over a guide."""

    change: Literal["created", "updated", "unchanged"]
    asked: int = 0  # pictures asked for


@transaction.atomic
def save_guide(guide: Guide, spots: Sequence[SpotDetail]) -> Guide:
    """Save a guide and its spots; the missing pictures are asked for with them.

    One transaction, so no spot is ever left without its job.
    """
    is_new = guide._state.adding
    guide.save()
    number(guide, spots)
    SpotDetail.objects.bulk_create(spots)  # enqueues, as every way of saving a spot does
    note_saved(guide, "created" if is_new else "updated")
    return guide


def note_saved(guide: Guide, change: Literal["created", "updated"]) -> None:
    """Record that a guide was saved, in the transaction that saves it."""
    events.record(SITE, GUIDE_SAVED, {"plan_id": guide.pk, "change": change})


@transaction.atomic
def put_guide(
    guide: Guide,
    spots: Sequence[SpotDetail],
    book: Callable[[int], None] | None = None,
    *,
    keep: Iterable[str] = (),
) -> Handover:
    """Make the guide of this plan id equal to this one; repeating it changes nothing.

    A spot is identified by its name, so a renamed one is a new spot. Existing pictures stay.
    `book` is told how many pictures were asked for; if it raises, nothing is saved. `keep` names
    the columns that a known guide keeps. A withdrawn guide is published again.
    """
    result = replace_guide(guide, spots, keep)
    if result.change != "unchanged":
        note_saved(guide, result.change)
    if book:
        book(result.asked)
    return result


def replace_guide(guide: Guide, spots: Sequence[SpotDetail], keep: Iterable[str]) -> Handover:
    facts = {name: getattr(guide, name) for name in (*GUIDE_COLUMNS, "draft")}
    locked = Guide.objects.select_for_update(no_key=True)
    stored, is_new = locked.get_or_create(pk=guide.plan_id, defaults=facts)
    for name in keep:
        setattr(guide, name, getattr(stored, name))
    number(stored, spots)
    if is_new:
        SpotDetail.objects.bulk_create(spots)
        return Handover("created", len(spots))
    known = {spot.spot_name: spot for spot in stored.spots.all()}
    row = Guide.objects.filter(pk=stored.pk)
    if is_same(guide, stored) and are_same(spots, known) and not stored.withdrawn_at:
        row.update(published_at=Now())
        return Handover("unchanged")
    # Jobs are always locked before spots: of pictures to hurry, of failed ones, of removed spots.
    if guide.picture_strategy != stored.picture_strategy:
        hurry_pictures(guide)
    again = ask_again(stored, reworded(guide, stored, spots, known))
    if stored.withdrawn_at:
        kept_names = [spot.spot_name for spot in spots if spot.spot_name in known]
        again += ask_again(stored, kept_names, origin=Status.CANCELED)
    columns = {name: getattr(guide, name) for name in GUIDE_COLUMNS}
    row.update(**columns, withdrawn_at=None, published_at=Now())
    remove_spots(stored, known.keys() - {spot.spot_name for spot in spots})
    new = [spot for spot in spots if spot.spot_name not in known]
    SpotDetail.objects.bulk_create(new)
    kept = [take_over(known[spot.spot_name], spot) for spot in spots if spot.spot_name in known]
    wanted = len(new) + request_images(kept) + again
    SpotDetail.objects.bulk_update(kept, SPOT_COLUMNS, batch_size=100)
    return Handover("updated", wanted)


def number(guide: Guide, spots: Sequence[SpotDetail]) -> None:
    for position, spot in enumerate(spots):
        spot.guide = guide
        spot.position = position


def is_same(guide: Guide, stored: Guide) -> bool:
    return all(getattr(guide, name) == getattr(stored, name) for name in GUIDE_COLUMNS)


def are_same(spots: Sequence[SpotDetail], known: dict[str, SpotDetail]) -> bool:
    def facts(spot: SpotDetail) -> list[object]:
        return [getattr(spot, name) for name in SPOT_COLUMNS]

    return len(spots) == len(known) and all(
        spot.spot_name in known and facts(spot) == facts(known[spot.spot_name]) for spot in spots
    )


def take_over(stored: SpotDetail, spot: SpotDetail) -> SpotDetail:
    for name in SPOT_COLUMNS:
        setattr(stored, name, getattr(spot, name))
    return stored


def reworded(
    guide: Guide, stored: Guide, spots: Sequence[SpotDetail], known: dict[str, SpotDetail]
) -> list[str]:
    """Names of the spots whose prompt would differ from before."""

    def words(guide: Guide, spot: SpotDetail) -> list[object]:
        return [guide.destination, guide.picture_style, spot.description, spot.topic_tags]

    return [
        spot.spot_name
        for spot in spots
        if (before := known.get(spot.spot_name)) and words(guide, spot) != words(stored, before)
    ]


def ask_again(guide: Guide, names: list[str], *, origin: Status = Status.FAILED) -> int:
    """Requeue the failed (or canceled) pictures that these spots lack; returns how many."""
    if not names:
        return 0
    jobs = SpotImageJob.objects.filter(plan_id=guide.pk, spot_name__in=names)
    lacking = guide.spots.filter(~PAINTED).values("spot_name")
    requeued = queue.requeue(
        jobs.filter(status=origin, spot_name__in=lacking),  # type: ignore[misc]
        by="its guide",
        origins=[origin],
    )
    return len(requeued)


def remove_spots(guide: Guide, names: Iterable[str]) -> None:
    names = list(names)
    if names:
        jobs = SpotImageJob.objects.filter(plan_id=guide.pk, spot_name__in=names)
        queue.cancel(jobs, DELETED, by="its guide")  # one call locks them in order
        guide.spots.filter(spot_name__in=names).delete()


@queue.repeated
@transaction.atomic
def withdraw_guide(plan_id: str, told_at: datetime) -> bool:
    """Take a guide off all pages, and make no more pictures of it; False: it was left alone.

    That is because there is no such guide, or because it was published after `told_at`: handed
    over, or put back by a person. The condition is part of the UPDATE, which waits for both.
    """
    guides = Guide.objects.filter(pk=plan_id).published_by(told_at)
    found = guides.update(withdrawn_at=Coalesce("withdrawn_at", Now()))
    if found:  # the guide before its jobs, as when it is handed over
        jobs = SpotImageJob.objects.filter(plan_id=plan_id)
        queue.cancel(jobs, WITHDRAWN, by="its guide")
    return bool(found)


@transaction.atomic
def publish_guides(guides: QuerySet[Guide]) -> tuple[list[Guide], int]:
    """Put withdrawn guides back, the first hundred of them, and ask for the pictures they lack.

    Returns these guides, and how many pictures were asked for.
    """
    withdrawn = guides.exclude(withdrawn_at=None).order_by("pk")
    found = list(withdrawn.select_for_update(no_key=True)[:MOST_PUBLISHED])
    asked = 0
    for guide in found:
        spots = list(guide.spots.all())
        names = [spot.spot_name for spot in spots]
        asked += ask_again(guide, names, origin=Status.CANCELED) + request_images(spots)
    rows = Guide.objects.filter(pk__in=[guide.pk for guide in found])
    rows.update(withdrawn_at=None, published_at=Now())
    for guide in found:
        note_saved(guide, "updated")  # what is derived from guides takes it in again
    return found, asked


def request_images(spots: Iterable[SpotDetail]) -> int:
    """Ask for the pictures these spots lack; returns how many jobs are new.

    Spots with a picture and existing jobs are left alone: running a job again is a requeue.
    """
    return enqueue_missing(spots)


def hurry_pictures(guide: Guide) -> int:
    """Make the pictures that wait for a batch at once, if the guide says "now".

    That costs the full price, so no other strategy does it: under the provider's own, the
    collector decides. Pictures that a batch has collected arrive with it. Returns how many are
    made at once.
    """
    if guide.picture_strategy != PictureStrategy.SYNC:
        return 0
    jobs = SpotImageJob.objects.living().filter(plan_id=guide.pk)  # type: ignore[misc]
    waiting = Call.objects.filter(state=State.WAITING, job_id__in=jobs.values("id"))
    return asked.hurry(waiting, by="its guide")


@transaction.atomic
def request_new_pictures(jobs: QuerySet[SpotImageJob], by: object) -> tuple[int, int]:
    """Ask for other pictures of spots that have one, and pay again.

    Returns how many were asked for, and how many were left alone because they wait or run
    already. The old picture stays on the page until the new one is ready.
    """
    wanted = jobs.count()
    ended = list(jobs.filter(status__in=ENDED).order_by("id").select_for_update())
    chosen = SpotImageJob.objects.filter(id__in=[job.id for job in ended])
    chosen.update(generation=F("generation") + 1, asked_by=str(by))  # type: ignore[misc]
    requeued = len(queue.requeue(chosen, by=by))
    return requeued, wanted - requeued


@transaction.atomic
def use_version(version: SpotImage) -> None:
    """Show this picture of the spot again; the page follows at once."""
    spot = version.spot
    # Lock the job before the spot, as every move does.
    jobs = SpotImageJob.objects.filter(plan_id=spot.guide_id, spot_name=spot.spot_name)
    statuses = jobs.select_for_update().values_list("status", flat=True)
    is_awaited = any(status not in ENDED for status in statuses)
    show_picture(spot, version.as_picture(), version.asked_by)
    if is_awaited:  # another picture is still on its way
        SpotDetail.objects.filter(pk=spot.pk).update(image_status=ImageStatus.PROCESSING)
