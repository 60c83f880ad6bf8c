"""A guide that a model writes: what was asked for, and the spots that were planned."""

from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from guides import validators
from guides.models import Guide

MOST_DAYS = MOST_SPOTS = 30
USUAL_DAYS, USUAL_SPOTS = 2, 8
LONGEST_INTERESTS = 500


class Tone(models.TextChoices):
    CALM = "calm", _("calm")
    LIVELY = "lively", _("lively")
    PRACTICAL = "practical", _("practical")
    LITERARY = "literary", _("literary")


class State(models.TextChoices):
    """Where a manuscript is. The first two are open: something is asked for and not here yet."""

    OUTLINE = "outline", _("its outline is being written")
    TEXTS = "texts", _("its texts are being written")
    DONE = "done", _("written")
    FAILED = "failed", _("failed")


class SpotState(models.TextChoices):
    WRITING = "writing", _("being written")
    WRITTEN = "written", _("written")
    FAILED = "failed", _("failed")


OPEN = (State.OUTLINE, State.TEXTS)
WISHES = ("destination", "days", "spots", "interests", "language", "tone")


class ManuscriptQuerySet(models.QuerySet["Manuscript"]):
    def unfinished(self) -> Self:
        """Those that a page speaks of: being written, or failed."""
        return self.exclude(state=State.DONE)


class Manuscript(models.Model):
    """What was asked for, and how far it is. The texts themselves are the guide's and its spots'.

    Only `asking` and `keepers` write it. A guide that was handed over or typed has none.
    """

    guide = models.OneToOneField(
        Guide,
        on_delete=models.CASCADE,
        primary_key=True,
        db_column="plan_id",
        related_name="manuscript",
        verbose_name=_("guide"),
    )
    destination = models.CharField(_("destination"), max_length=validators.LONGEST_TITLE)
    days = models.SmallIntegerField(_("days"), default=USUAL_DAYS, db_default=USUAL_DAYS)
    spots = models.SmallIntegerField(_("spots"), default=USUAL_SPOTS, db_default=USUAL_SPOTS)
    interests = models.TextField(_("interests"), blank=True, default="", db_default="")
    language = models.CharField(_("language"), max_length=10)
    tone = models.CharField(
        _("tone"), max_length=20, choices=Tone.choices, default=Tone.CALM, db_default=Tone.CALM
    )
    asked_by = models.TextField(_("asked by"), blank=True, default="", db_default="")
    state = models.CharField(
        _("state"),
        max_length=10,
        choices=State.choices,
        default=State.OUTLINE,
        db_default=State.OUTLINE,
    )
    # The last one that was asked for. What any other process brings comes too late.
    process_id = models.UUIDField(_("process"), null=True, blank=True)
    error = models.TextField(_("error"), blank=True, default="", db_default="")
    asked_at = models.DateTimeField(_("asked"), db_default=Now())
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = ManuscriptQuerySet.as_manager()

    class Meta:
        db_table = "manuscripts"
        verbose_name = _("manuscript")
        verbose_name_plural = _("manuscripts")
        constraints: ClassVar = [
            models.CheckConstraint(name="manuscript_state", condition=Q(state__in=State.values)),
            models.CheckConstraint(name="manuscript_tone", condition=Q(tone__in=Tone.values)),
            models.CheckConstraint(
                name="manuscript_size",
                condition=Q(days__range=(1, MOST_DAYS), spots__range=(1, MOST_SPOTS)),
            ),
        ]
        indexes: ClassVar = [
            # A keeper that ends without success looks for its manuscript.
            models.Index(
                fields=["process_id"],
                name="manuscript_process",
                condition=Q(process_id__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.destination} ({self.guide_id})"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN


class PlannedSpot(models.Model):
    """A spot of the outline: what the page may announce, and staff may ask for again."""

    manuscript = models.ForeignKey(
        Manuscript,
        on_delete=models.CASCADE,
        related_name="planned",
        db_column="plan_id",
        verbose_name=_("manuscript"),
    )
    name = models.CharField(_("name"), max_length=validators.LONGEST_SPOT_NAME)
    position = models.SmallIntegerField(_("position"), default=0, db_default=0)
    angle = models.TextField(_("angle"), blank=True, default="", db_default="")
    tags = models.JSONField(_("tags"), default=list, db_default=[], blank=True)
    state = models.CharField(
        _("state"),
        max_length=10,
        choices=SpotState.choices,
        default=SpotState.WRITING,
        db_default=SpotState.WRITING,
    )
    error = models.TextField(_("error"), blank=True, default="", db_default="")

    class Meta:
        db_table = "planned_spots"
        ordering: ClassVar = ["position", "id"]
        verbose_name = _("planned spot")
        verbose_name_plural = _("planned spots")
        constraints: ClassVar = [
            # Also serves the list of a manuscript's spots.
            models.UniqueConstraint(fields=["manuscript", "name"], name="one_planned_spot"),
            models.CheckConstraint(
                name="planned_spot_state", condition=Q(state__in=SpotState.values)
            ),
        ]

    def __str__(self) -> str:
        return self.name
