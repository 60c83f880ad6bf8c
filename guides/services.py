"""What a person asks for. Views, admin and commands call these; none of them writes on its own."""

from collections.abc import Iterable, Sequence

from django.db import transaction

from guides.models import Guide, SpotDetail, enqueue_missing


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
