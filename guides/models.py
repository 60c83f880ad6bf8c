"""Guides, their spots, and the pictures the spots have had."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from types import MappingProxyType
from typing import Any, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Case, Count, Exists, OuterRef, Q, Value, When
from django.db.models.functions import Now
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from guides import images, names, providers
from guides.images import Picture
from guides.styles import PictureStyle
from guides.versions import SpotImage as SpotImage  # it is one of the models, too
from jobs import queue
from jobs.errors import Cancel, StorageRefused
from jobs.models import ENDED, Job
from jobs.paid import calls
from jobs.paid.limits import pausing_on
from jobs.run import Run

PICTURE = ("image_url", "image_status", "blur")
KNOWN = ("guide_id", "spot_name", *PICTURE)
PAINTED = Q(image_url__regex=names.ADDRESS)  # of spots: those whose `picture_state` is ready


class ImageStatus(models.TextChoices):
    """What the spot's job makes of it; moves in the job's own transactions."""

    NOT_STARTED = "not_started", _("not started")
    PROCESSING = "processing", _("processing")
    SUCCEEDED = "succeeded", _("succeeded")
    FAILED = "failed", _("failed")


class GuideQuerySet(models.QuerySet["Guide"]):
    def with_progress(self) -> Self:
        return self.annotate(
            spot_count=Count("spots"),
            ready_count=Count("spots", filter=Q(spots__image_url__regex=names.ADDRESS)),
        )


class Guide(models.Model):
    plan_id = models.CharField(
        _("plan id"),
        primary_key=True,
        max_length=100,
        default=names.new_plan_id,
        validators=[names.validate_plan_id],
    )
    title = models.CharField(_("title"), max_length=200)
    destination = models.CharField(_("destination"), max_length=200, blank=True)
    summary = models.TextField(_("summary"), blank=True)
    picture_style = models.CharField(
        _("style of the pictures"),
        max_length=20,
        choices=PictureStyle.choices,
        blank=True,
        default=PictureStyle.USUAL,
        db_default=PictureStyle.USUAL,
    )
    created_at = models.DateTimeField(_("created"), db_default=Now(), editable=False)

    objects = GuideQuerySet.as_manager()

    class Meta:
        db_table = "guides"
        ordering = ["-created_at", "plan_id"]
        verbose_name = _("guide")
        verbose_name_plural = _("guides")
        # The newest first: home, and the admin's list.
        indexes = [models.Index(fields=["-created_at", "plan_id"], name="guide_newest")]
        constraints = [
            models.CheckConstraint(
                name="guide_plan_id", condition=Q(plan_id__regex=r"^[A-Za-z0-9_-]{1,100}$")
            )
        ]

    def __str__(self) -> str:
        return self.title or self.plan_id

    def save(self, *args: Any, **kwargs: Any) -> None:
        names.validate_plan_id(self.plan_id)
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        return reverse("guide", args=[self.plan_id])


class SpotQuerySet(models.QuerySet["SpotDetail"]):
    def with_jobs(self) -> Self:
        """Know of each spot whether its picture is on its way, without asking for each."""
        living = SpotImageJob.objects.exclude(status__in=ENDED)
        return self.annotate(
            awaits_picture=Exists(
                living.filter(plan_id=OuterRef("guide_id"), spot_name=OuterRef("spot_name"))  # type: ignore[misc]
            )
        )

    def loading(self) -> Self:
        """Those whose `picture_state` is loading."""
        unpainted = self.with_jobs().filter(~PAINTED).exclude(image_status=ImageStatus.FAILED)
        return unpainted.filter(Q(image_status=ImageStatus.PROCESSING) | Q(awaits_picture=True))

    def unsettled(self) -> Self:
        """Those whose picture may still change: the loading ones, and those to be replaced."""
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


class SpotDetail(models.Model):
    guide = models.ForeignKey(
        Guide, on_delete=models.CASCADE, related_name="spots", db_column="plan_id"
    )
    spot_name = models.TextField(_("name"), validators=[names.validate_spot_name])
    description = models.TextField(_("description"), blank=True, default="")
    position = models.IntegerField(_("position"), default=0)
    topic_tags = models.JSONField(
        _("tags"), default=list, blank=True, validators=[names.validate_tags]
    )
    image_url = models.TextField(_("picture"), blank=True, default="")
    image_status = models.TextField(
        _("state of the picture"),
        choices=ImageStatus.choices,
        default=ImageStatus.NOT_STARTED,
        db_default=ImageStatus.NOT_STARTED,
    )
    blur = models.TextField(blank=True, default="", editable=False)  # shown while the file loads

    _known: Mapping[str, Any] = MappingProxyType({})

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

        Columns of the picture are written only if this copy has changed them: its job may have
        brought the picture since the copy was read.
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
                cancel_jobs(
                    "Its spot was renamed.", plan_id=was["guide_id"], spot_name=was["spot_name"]
                )
            super().save(*args, **kwargs)
            if "image_url" in changed and not self.image_url:
                self.images.update(is_current=False)
            enqueue_missing([self], new=is_new or moved)
        self.remember()

    def clean(self) -> None:
        """Refuse a new picture that is none; what the database has already is not asked about."""
        if self.image_url and self.image_url != self._known.get("image_url"):
            try:
                names.validate_image_url(self.image_url)
            except ValidationError as error:
                raise ValidationError({"image_url": error}) from None

    @classmethod
    def from_db(cls, db: str | None, field_names: Any, values: Any, **options: Any) -> Self:
        spot = super().from_db(db, field_names, values, **options)
        spot.remember()
        return spot

    def refresh_from_db(
        self, using: Any = None, fields: Any = None, *more: Any, **options: Any
    ) -> None:
        super().refresh_from_db(using, fields, *more, **options)
        self.remember(KNOWN if fields is None else set(KNOWN) & set(fields))

    def remember(self, columns: Iterable[str] = KNOWN) -> None:
        """Note what the database knows of the spot."""
        fresh = {name: self.__dict__.get(name) for name in columns}
        self._known = {**self._known, **fresh}

    def has_moved(self) -> bool:
        """Whether this copy has another name, or another guide, than the database knows."""
        here = (self.guide_id, self.spot_name)  # first: what was not loaded is known after this
        known = (self._known.get("guide_id"), self._known.get("spot_name"))
        return not self._state.adding and here != known

    def _plain_fields(self) -> list[str]:
        names = [field.name for field in self._meta.fields if not field.primary_key]
        return [name for name in names if name not in PICTURE]

    def tidy(self) -> set[str]:
        """Make the spot fit to be saved; returns which columns of its picture have changed."""
        self.spot_name = self.spot_name.strip()
        names.validate_spot_name(self.spot_name)
        self.topic_tags = names.tidy_tags(self.topic_tags)
        self.clean()
        if self._state.adding:
            if self.image_status == ImageStatus.PROCESSING:  # only a job can say so
                self.image_status = ImageStatus.NOT_STARTED
            return set(PICTURE)
        if self.has_moved():
            # A renamed spot is a new one: the picture it had shows another place.
            self.image_url = self.blur = ""
            self.image_status = ImageStatus.NOT_STARTED
            return set(PICTURE)
        if self._known.get("image_url") and not self.image_url:
            self.image_status = ImageStatus.NOT_STARTED
        return {name for name in PICTURE if getattr(self, name) != self._known.get(name)}

    def show(self, picture: Picture, asked_by: str = "") -> None:
        """Make this the spot's picture; the one it had stays as a version."""
        SpotImage.objects.make_current(self, picture, asked_by)
        SpotDetail.objects.filter(pk=self.pk).update(
            image_url=images.url_of(picture.object_name),
            image_status=ImageStatus.SUCCEEDED,
            blur=picture.blur,
        )

    @property
    def wants_picture(self) -> bool:
        waiting = (ImageStatus.NOT_STARTED, ImageStatus.FAILED)
        return not self.shown_url and self.image_status in waiting

    @property
    def shown_url(self) -> str:
        """The address of its picture, if it is one: what plain SQL wrote may be anything."""
        return names.address(self.image_url)

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
            living = SpotImageJob.objects.exclude(status__in=ENDED)
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

    One job row per spot for ever: a job that exists is met, whatever its state. But a new spot
    that meets an ended job has only the name of one that was deleted or renamed: it is requeued.
    """
    wanted = [spot for spot in spots if spot.wants_picture]
    jobs = [SpotImageJob(plan_id=spot.guide_id, spot_name=spot.spot_name) for spot in wanted]
    created = queue.enqueue(jobs)
    if new and len(created) < len(jobs):
        names = [job.spot_name for job in jobs]
        ended = SpotImageJob.objects.filter(status__in=ENDED, plan_id=jobs[0].plan_id)
        queue.requeue(ended.filter(spot_name__in=names), by="a new spot of that name")  # type: ignore[misc]
    return len(created)


def cancel_jobs(reason: str, **spot: str) -> None:
    queue.cancel(SpotImageJob.objects.filter(**spot), reason, by="its guide")


class SpotImageJob(Job):
    """Makes the picture of one spot."""

    # No foreign key: the job outlives its spot, to say what became of it.
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

    class Meta(Job.Meta):
        db_table = "spot_image_jobs"
        verbose_name = _("picture job")
        verbose_name_plural = _("picture jobs")
        constraints = [
            *Job.Meta.constraints,
            # Asking twice is harmless: the second request meets the first.
            models.UniqueConstraint(fields=["plan_id", "spot_name"], name="one_image_job_per_spot"),
        ]
        indexes = [
            *Job.Meta.indexes,
            # The search for a spot by the beginning of its name, whatever the collation.
            models.Index(
                fields=["spot_name"], name="spotimagejob_spot", opclasses=["text_pattern_ops"]
            ),
        ]

    def __str__(self) -> str:
        return f"{self.spot_name} ({self.plan_id})"

    @classmethod
    def provider_name(cls) -> str:
        return providers.full_name()

    @classmethod
    def provider_is_free(cls) -> bool:
        return providers.chosen().is_free

    @classmethod
    def check_setup(cls) -> None:
        providers.chosen().check_setup()

    def spots(self) -> SpotQuerySet:
        """Its spot, if there still is one."""
        return SpotDetail.objects.filter(guide_id=self.plan_id, spot_name=self.spot_name)

    def perform(self, run: Run) -> Picture:
        spot = self.spots().select_related("guide").first()
        if spot is None:
            raise Cancel(f"There is no spot {self.spot_name!r} in guide {self.plan_id!r} any more.")
        with run.step("prompt"):
            request = images.request_for(spot, generation=self.generation)
        known = spot.images.filter(payload_hash=request.payload_hash).first()
        if known and self.is_stored(known, run):
            return known.as_picture()
        bought = calls.buy(run, request.payload_hash, partial(providers.chosen().draw, request))
        with calls.using(bought) as raw:
            picture = images.make_picture(request, raw, run.step)
        return replace(picture, cost=bought.call.cost, seconds=bought.call.seconds)

    def is_stored(self, version: SpotImage, run: Run) -> bool:
        with run.step("store"), pausing_on(StorageRefused, self.provider_name()):
            return images.is_stored(version.object_name)

    def on_start(self) -> None:
        self.spots().update(image_status=ImageStatus.PROCESSING)

    def on_success(self, picture: Picture) -> None:
        for spot in self.spots().select_for_update():
            spot.show(picture, self.asked_by)

    def on_failure(self, error: BaseException) -> None:
        self.spots().update(image_status=ImageStatus.FAILED)

    def on_requeue(self) -> None:
        self.spots().update(image_status=ImageStatus.PROCESSING)

    def on_cancel(self) -> None:
        without = When(image_url="", then=Value(ImageStatus.NOT_STARTED))
        status = Case(without, default=Value(ImageStatus.SUCCEEDED))
        self.spots().update(image_status=status)


# However spots are deleted, nobody paints them any more. Before the delete, and not after:
# jobs are always locked before their spots.


@receiver(pre_delete, sender=SpotDetail)
def cancel_job_of(instance: SpotDetail, origin: Any, **_kwargs: Any) -> None:
    if getattr(origin, "model", type(origin)) is not Guide:  # a guide cancels all at once
        plan_id, spot_name = instance.guide_id, instance.spot_name
        cancel_jobs("Its spot was deleted.", plan_id=plan_id, spot_name=spot_name)


@receiver(pre_delete, sender=Guide)
def cancel_jobs_of(instance: Guide, **_kwargs: Any) -> None:
    cancel_jobs("Its spot was deleted.", plan_id=instance.plan_id)
