"""The job that makes a spot's picture, and how its moves change the spot."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING

from django.apps import apps
from django.conf import settings
from django.db import models
from django.db.models import Case, Exists, Max, OuterRef, Value, When
from django.utils.translation import gettext_lazy as _

from guides import images, makers
from guides.images import Picture
from jobs.models import Job
from jobs.run import Run

if TYPE_CHECKING:
    from guides.models.spot import SpotDetail, SpotQuerySet


class ImageStatus(models.TextChoices):
    """The picture's state as its job sees it; changes in the job's own transactions."""

    NOT_STARTED = "not_started", _("not started")
    PROCESSING = "processing", _("processing")
    SUCCEEDED = "succeeded", _("succeeded")
    FAILED = "failed", _("failed")


# What the picture alone tells, once no job is about it any more.
BY_PICTURE = Case(
    When(image_url="", then=Value(ImageStatus.NOT_STARTED)), default=Value(ImageStatus.SUCCEEDED)
)


class SpotImageJob(Job):
    """Makes the picture of one spot."""

    # No foreign key: the job outlives its spot and keeps its history.
    plan_id = models.TextField(_("plan id"))
    spot_name = models.TextField(_("spot"))
    generation = models.IntegerField(
        _("generation"),
        default=0,
        db_default=0,
        help_text=_("raised when a person asks for a new picture"),
    )

    asked_by = models.TextField(
        _("asked by"), blank=True, default="", db_default="", help_text=_("empty: the guide")
    )

    timeout = timedelta(minutes=2)
    patience = timedelta(hours=settings.PATIENCE_HOURS)
    steps = {
        "prompt": _("prompt"),
        "wait": _("wait for a token"),
        "generate": _("generate"),
        "check": _("check"),
        "store": _("store"),
    }
    causes = {
        "Unpaintable": _("the painter can't paint it"),
        "BadPicture": _("unusable picture"),
    }

    class Meta(Job.Meta):
        db_table = "spot_image_jobs"
        verbose_name = _("picture job")
        verbose_name_plural = _("picture jobs")
        constraints = [
            *Job.Meta.constraints,
            # Asking twice is harmless: the second request meets the first.
            models.UniqueConstraint(fields=["plan_id", "spot_name"], name="one_image_job_per_spot"),
        ]

    def __str__(self) -> str:
        return f"{self.spot_name} ({self.plan_id})"

    @classmethod
    def provider_name(cls) -> str:
        return makers.full_name()

    @classmethod
    def provider_is_free(cls) -> bool:
        return makers.chosen().is_free

    @classmethod
    def check_setup(cls) -> None:
        makers.chosen().check_setup()

    def spots(self) -> "SpotQuerySet":
        """The job's spot, or none if it was deleted."""
        # From the registry, because spot.py imports this file.
        spots: SpotQuerySet = apps.get_model("guides", "SpotDetail").objects.all()
        return spots.filter(guide_id=self.plan_id, spot_name=self.spot_name)

    def perform(self, run: Run) -> Picture:
        return images.make_picture(self, run)

    def on_start(self) -> None:
        self.spots().update(image_status=ImageStatus.PROCESSING)

    def on_success(self, picture: Picture) -> None:
        for spot in self.spots().select_for_update():
            show_picture(spot, picture, self.asked_by)

    def on_failure(self, error: BaseException) -> None:
        self.spots().update(image_status=ImageStatus.FAILED)

    def on_requeue(self) -> None:
        self.spots().update(image_status=ImageStatus.PROCESSING)

    @classmethod
    def on_requeue_all(cls, jobs: Sequence["SpotImageJob"]) -> None:
        """The same with one query for many: a person may requeue 100,000."""
        cls.spots_of(jobs).update(image_status=ImageStatus.PROCESSING)

    def on_cancel(self) -> None:
        self.spots().update(image_status=BY_PICTURE)

    @classmethod
    def on_cancel_all(cls, jobs: Sequence["SpotImageJob"]) -> None:
        cls.spots_of(jobs).update(image_status=BY_PICTURE)

    @classmethod
    def spots_of(cls, jobs: Sequence["SpotImageJob"]) -> "SpotQuerySet":
        those = cls.objects.with_ids([job.id for job in jobs])
        name = {"plan_id": OuterRef("guide_id"), "spot_name": OuterRef("spot_name")}
        spots: SpotQuerySet = apps.get_model("guides", "SpotDetail").objects.all()
        return spots.filter(Exists(those.filter(**name)))


def show_picture(spot: "SpotDetail", picture: Picture, asked_by: str = "") -> None:
    """Make this the spot's picture; the one it had stays as a version.

    It becomes a new version, unless the spot has one of the same request.
    """
    spot.images.filter(is_current=True).update(is_current=False)
    if not spot.images.filter(payload_hash=picture.payload_hash).update(is_current=True):
        # Not a count: versions may have been deleted.
        number = (spot.images.aggregate(last=Max("version"))["last"] or 0) + 1
        spot.images.create(version=number, is_current=True, asked_by=asked_by, **asdict(picture))
    type(spot).objects.filter(pk=spot.pk).update(
        image_url=images.url_of(picture.object_name),
        image_status=ImageStatus.SUCCEEDED,
        blur=picture.blur,
    )
