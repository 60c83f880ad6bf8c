"""What a person asks for. Views, admin and commands call these; none of them writes on its own."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from django.db import transaction
from django.db.models import F, QuerySet

from guides.models import (
    Guide,
    ImageStatus,
    SpotDetail,
    SpotImage,
    SpotImageJob,
    enqueue_missing,
)
from jobs import providers, queue
from jobs.models import ENDED


@transaction.atomic
def save_guide(guide: Guide, spots: Sequence[SpotDetail]) -> Guide:
    """Save a guide and its spots; the missing pictures are asked for with them.

    One transaction, so no spot is ever left without its job.
    """
    guide.save()
    for position, spot in enumerate(spots):
        spot.guide = guide
        spot.position = position
    SpotDetail.objects.bulk_create(spots)  # enqueues, as every way of saving a spot does
    return guide


def request_images(spots: Iterable[SpotDetail]) -> int:
    """Ask for the pictures these spots lack; returns how many jobs are new.

    A spot that has its picture is left alone, and so is a job that exists: asking it again is
    a requeue.
    """
    return enqueue_missing(spots)


def price_of(pictures: int) -> Decimal:
    """What so many new pictures will cost, at the provider's price."""
    return pictures * providers.find(SpotImageJob.provider_name()).price


@transaction.atomic
def request_new_pictures(jobs: QuerySet[SpotImageJob], by: object) -> tuple[int, int]:
    """Ask for other pictures of spots that have one, and pay again.

    Returns how many were asked for and how many left alone, because they wait or run already.
    The picture there is stays on the page until the new one comes.
    """
    asked = jobs.count()
    ended = list(jobs.filter(status__in=ENDED).order_by("id").select_for_update())
    chosen = SpotImageJob.objects.filter(id__in=[job.id for job in ended])
    chosen.update(generation=F("generation") + 1, asked_by=str(by))  # type: ignore[misc]
    requeued, _ = queue.requeue(chosen, by=by)
    return requeued, asked - requeued


@transaction.atomic
def use_version(version: SpotImage) -> None:
    """Show this picture of the spot again; the page follows at once."""
    spot = version.spot
    # First the job, then the spot: as every move does.
    jobs = SpotImageJob.objects.filter(plan_id=spot.guide_id, spot_name=spot.spot_name)
    statuses = jobs.select_for_update().values_list("status", flat=True)
    is_awaited = any(status not in ENDED for status in statuses)
    spot.show(version.as_picture(), version.asked_by)
    if is_awaited:  # then another picture is still on its way
        SpotDetail.objects.filter(pk=spot.pk).update(image_status=ImageStatus.PROCESSING)
