"""A spot: every way of saving it also enqueues the job for its picture."""

from collections.abc import Collection, Iterable
from typing import Any, Self

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from guides import images, validators
from guides.models.guide import Guide
from guides.models.job import ImageStatus, SpotImageJob
from guides.models.known import Known
from jobs import queue

Name = tuple[str, str]  # plan id, and name within its guide

NAME = ("guide_id", "spot_name")
PICTURE = ("image_url", "image_status", "blur")
PAINTED = Q(image_url__regex=validators.ADDRESS)  # spots whose `picture_state` is ready
# Why a job was canceled: stored in English, translated when it is shown.
DELETED, RENAMED = gettext_noop("Its spot was deleted."), gettext_noop("Its spot was renamed.")


class SpotQuerySet(models.QuerySet["SpotDetail"]):
    def with_jobs(self) -> Self:
        """Load with each spot whether its picture is on its way, without a query per spot."""
        living = SpotImageJob.objects.living()
        return self.annotate(
            awaits_picture=Exists(
                living.filter(plan_id=OuterRef("guide_id"), spot_name=OuterRef("spot_name"))  # type: ignore[misc]
            )
        )

    def loading(self) -> Self:
        """Spots whose `picture_state` is loading."""
        unpainted = self.with_jobs().filter(~PAINTED).exclude(image_status=ImageStatus.FAILED)
        return unpainted.filter(Q(image_status=ImageStatus.PROCESSING) | Q(awaits_picture=True))

    def unsettled(self) -> Self:
        """Spots whose picture may still change: it is loading, or is to be replaced."""
        unpainted = Q(~PAINTED, image_status=ImageStatus.PROCESSING)
        return self.with_jobs().filter(Q(awaits_picture=True) | unpainted)

    def bulk_create(self, objs: Iterable["SpotDetail"], *args: Any, **kwargs: Any) -> Any:
        spots = list(objs)
        for spot in spots:
            spot.tidy()
        with transaction.atomic(using=self.db):
            created = super().bulk_create(spots, *args, **kwargs)
            enqueue_missing(spots, new=True)
        for spot in spots:
            spot.remember()
        return created


class SpotDetail(Known):
    guide = models.ForeignKey(
        Guide,
        on_delete=models.CASCADE,
        related_name="spots",
        db_column="plan_id",
        verbose_name=_("guide"),
    )
    spot_name = models.TextField(_("name"), validators=[validators.validate_spot_name])
    description = models.TextField(_("description"), blank=True, default="", db_default="")
    position = models.IntegerField(_("position"), default=0, db_default=0)
    topic_tags = models.JSONField(
        _("tags"), default=list, db_default=[], blank=True, validators=[validators.validate_tags]
    )
    image_url = models.TextField(_("picture"), blank=True, default="", db_default="")
    image_status = models.TextField(
        _("state of the picture"),
        choices=ImageStatus.choices,
        default=ImageStatus.NOT_STARTED,
        db_default=ImageStatus.NOT_STARTED,
    )
    # Shown while the file loads.
    blur = models.TextField(_("preview"), blank=True, default="", db_default="", editable=False)

    KNOWN = (*NAME, *PICTURE)

    comes_later = ""  # by batch: "tomorrow", or "late" after a day; set by the pages
    said: Any = None  # its texts in the reader's language; set by the pages

    objects = SpotQuerySet.as_manager()

    class Meta:
        db_table = "spot_details"
        ordering = ["position", "id"]
        verbose_name = _("spot")
        verbose_name_plural = _("spots")
        constraints = [
            models.UniqueConstraint(fields=["guide", "spot_name"], name="one_spot_per_name"),
            models.CheckConstraint(
                name="spot_image_status", condition=Q(image_status__in=ImageStatus.values)
            ),
        ]

    def __str__(self) -> str:
        return self.spot_name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the spot; its job exists when the transaction commits.

        Columns of the picture are written only if this copy changed them: the job may have
        saved the picture after the copy was read.
        """
        is_new = self._state.adding
        was = self._known
        changed = self.tidy()
        moved = self.has_moved()
        if not is_new:
            asked = kwargs.get("update_fields")
            kwargs["update_fields"] = changed | set(
                self._plain_fields() if asked is None else asked
            )
        with transaction.atomic():
            if moved:  # before the spot is written: jobs are always locked first
                cancel_jobs(RENAMED, plan_id=was["guide_id"], spot_name=was["spot_name"])
            super().save(*args, **kwargs)
            if "image_url" in changed and not self.image_url:
                self.images.update(is_current=False)
            enqueue_missing([self], new=is_new or moved)
        self.remember()

    def clean(self) -> None:
        """Refuse a new image_url that is no address; a value already saved is not checked again."""
        if self.image_url and self.image_url != self._known.get("image_url"):
            try:
                validators.validate_image_url(self.image_url)
            except ValidationError as error:
                raise ValidationError({"image_url": error}) from None

    def has_moved(self) -> bool:
        """Whether this copy has another name or guide than the row in the database."""
        return not self._state.adding and bool(self.changed(NAME))

    def _plain_fields(self) -> list[str]:
        names = [field.name for field in self._meta.fields if not field.primary_key]
        return [name for name in names if name not in PICTURE]

    def tidy(self) -> set[str]:
        """Make the spot fit to be saved; returns which columns of its picture have changed."""
        self.spot_name = self.spot_name.strip()
        if self._state.adding or self.has_moved():  # a saved name may be older than a rule
            validators.validate_spot_name(self.spot_name)
        self.topic_tags = validators.tidy_tags(self.topic_tags)
        self.clean()
        if self._state.adding:
            if self.image_status == ImageStatus.PROCESSING:  # only a job sets this
                self.image_status = ImageStatus.NOT_STARTED
            return set(PICTURE)
        if self.has_moved():
            # A renamed spot is a new one: the picture it had shows another place.
            self.image_url = self.blur = ""
            self.image_status = ImageStatus.NOT_STARTED
            return set(PICTURE)
        if self._known.get("image_url") and not self.image_url:
            self.image_status = ImageStatus.NOT_STARTED
        return self.changed(PICTURE)

    @property
    def wants_picture(self) -> bool:
        waiting = (ImageStatus.NOT_STARTED, ImageStatus.FAILED)
        return not self.shown_url and self.image_status in waiting

    @property
    def shown_url(self) -> str:
        """The picture's address, or empty if invalid: plain SQL may have written anything."""
        return validators.address(self.image_url)

    @property
    def picture_state(self) -> str:
        """What a visitor sees: ready, loading, failed or none."""
        if self.shown_url:
            return "ready"
        if self.image_status == ImageStatus.FAILED:
            return "failed"
        if self.image_status == ImageStatus.PROCESSING or self._awaits_picture():
            return "loading"
        return "none"

    def _awaits_picture(self) -> bool:
        if not hasattr(self, "awaits_picture"):  # not loaded by with_jobs()
            living = SpotImageJob.objects.living()
            jobs = living.filter(plan_id=self.guide_id, spot_name=self.spot_name)  # type: ignore[misc]
            self.awaits_picture = jobs.exists()
        return bool(self.awaits_picture)

    @property
    def srcset(self) -> str:
        return images.srcset(self.image_url)

    @property
    def colours(self) -> tuple[str, str]:
        return images.colours(self.spot_name)


def enqueue_missing(spots: Iterable[SpotDetail], *, new: bool = False) -> int:
    """Ask for the pictures that are missing; returns how many jobs are new.

    A spot has one job row for ever, so an existing job is kept, whatever its state. But if a new
    spot finds an ended job, that job belonged to a deleted or renamed spot: it is requeued.
    """
    wanted = {(spot.guide_id, spot.spot_name): None for spot in spots if spot.wants_picture}
    created = 0
    while wanted:
        jobs = [SpotImageJob(plan_id=plan_id, spot_name=name) for plan_id, name in wanted]
        new_ids = queue.enqueue(jobs)
        created += len(new_ids)
        if not new or len(new_ids) == len(jobs):
            break
        # Repeat for jobs that were deleted after enqueue met them and before the requeue.
        there = requeue_ended(wanted)
        wanted = {name: None for name in wanted if name not in there}
    return created


def requeue_ended(names: Collection[Name]) -> set[Name]:
    """Requeue ended jobs of these spots; returns the living ones, locked until commit."""
    living: set[Name] = set()
    for plan_id in {name[0] for name in names}:
        wanted = [name for plan, name in names if plan == plan_id]
        jobs = SpotImageJob.objects.filter(plan_id=plan_id, spot_name__in=wanted)
        queue.requeue(jobs, by="a new spot of that name")
        locked = jobs.living().order_by("id").select_for_update()
        living |= set(locked.values_list("plan_id", "spot_name"))  # type: ignore[misc]
    return living


def cancel_jobs(reason: str, **spot: str) -> None:
    queue.cancel(SpotImageJob.objects.filter(**spot), reason, by="its guide")


# Every way of deleting a spot cancels its job first: jobs are always locked before their spots.


@receiver(pre_delete, sender=SpotDetail)
def cancel_job_of(instance: SpotDetail, origin: Any, **_kwargs: Any) -> None:
    if getattr(origin, "model", type(origin)) is not Guide:  # a guide cancels all its jobs at once
        plan_id, spot_name = instance.guide_id, instance.spot_name
        cancel_jobs(DELETED, plan_id=plan_id, spot_name=spot_name)


@receiver(pre_delete, sender=Guide)
def cancel_jobs_of(instance: Guide, **_kwargs: Any) -> None:
    cancel_jobs(DELETED, plan_id=instance.plan_id)
