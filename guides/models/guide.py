"""A guide: the words around its spots."""

import secrets
import string
from datetime import datetime
from typing import Any, Self

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Count, Func, Q, Value
from django.db.models.functions import Coalesce, Length, Now
from django.db.models.lookups import Exact, LessThanOrEqual, Range
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from guides import languages, validators
from guides.strategies import PictureStrategy
from guides.styles import PictureStyle

LETTERS = string.ascii_letters + string.digits + "_-"
# The rule of `validate_plan_id`, in functions that both databases have. Only Django adds regular
# expressions to SQLite: with one in the check, no other program could insert a guide.
REST = Func("plan_id", Value(LETTERS), function="LTRIM", output_field=models.CharField())
GOOD_PLAN_ID = Q(Exact(REST, "")) & Q(Range(Length("plan_id"), (1, 100)))


def new_plan_id() -> str:
    """128 random bits: no two guides ever get the same."""
    return secrets.token_hex(16)


# Only `services` writes these: a form opened before a withdrawal must not undo it.
PUBLICATION = ("withdrawn_at", "published_at")


class GuideQuerySet(models.QuerySet["Guide"]):
    def published(self) -> Self:
        return self.filter(withdrawn_at=None)

    def withdrawn(self) -> Self:
        return self.exclude(withdrawn_at=None)

    def published_by(self, moment: datetime) -> Self:
        """Those that were created by then, and neither handed over nor put back since."""
        last = Coalesce("published_at", "created_at")
        return self.filter(LessThanOrEqual(last, moment))

    def with_progress(self) -> Self:
        return self.annotate(
            spot_count=Count("spots"),
            ready_count=Count("spots", filter=Q(spots__image_url__regex=validators.ADDRESS)),
        )


class Guide(models.Model):
    plan_id = models.CharField(
        _("plan id"),
        primary_key=True,
        max_length=100,
        default=new_plan_id,
        validators=[validators.validate_plan_id],
    )
    title = models.CharField(_("title"), max_length=200)
    destination = models.CharField(
        _("destination"), max_length=200, blank=True, default="", db_default=""
    )
    summary = models.TextField(_("summary"), blank=True, default="", db_default="")
    language = models.CharField(
        _("language"),
        max_length=10,
        choices=languages.choices,
        blank=True,
        default="",
        db_default="",
        help_text=_("of its texts"),
    )
    picture_style = models.CharField(
        _("style of the pictures"),
        max_length=20,
        choices=PictureStyle.choices,
        blank=True,
        default=PictureStyle.USUAL,
        db_default=PictureStyle.USUAL,
    )
    picture_strategy = models.CharField(
        _("when the pictures are made"),
        max_length=10,
        choices=PictureStrategy.choices,
        blank=True,
        default=PictureStrategy.USUAL,
        db_default=PictureStrategy.USUAL,
        help_text=_("“now” also hurries pictures that wait for a batch"),
    )
    created_at = models.DateTimeField(_("created"), db_default=Now(), editable=False)
    withdrawn_at = models.DateTimeField(_("withdrawn since"), null=True, editable=False)
    # When it was last handed over or put back: a withdrawal told before that is out of date.
    published_at = models.DateTimeField(_("published again"), null=True, editable=False)
    # The form that made it: sent again, the form changes this guide. Nothing else has one.
    draft = models.CharField(max_length=40, null=True, unique=True, editable=False)  # noqa: DJ001

    objects = GuideQuerySet.as_manager()

    class Meta:
        db_table = "guides"
        ordering = ["-created_at", "plan_id"]
        verbose_name = _("guide")
        verbose_name_plural = _("guides")
        indexes = [
            # The admin's list: newest first.
            models.Index(fields=["-created_at", "plan_id"], name="guide_newest"),
            # Home: the same without withdrawn ones, and how many they are.
            models.Index(
                fields=["-created_at", "plan_id"],
                name="guide_published",
                condition=Q(withdrawn_at=None),
            ),
        ]
        constraints = [
            models.CheckConstraint(name="guide_plan_id", condition=GOOD_PLAN_ID),
            models.CheckConstraint(
                name="guide_picture_strategy",
                condition=Q(picture_strategy__in=PictureStrategy.values),
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.plan_id

    def save(self, *args: Any, **kwargs: Any) -> None:
        validators.validate_plan_id(self.plan_id)
        if not self._state.adding and kwargs.get("update_fields") is None:
            names = [field.name for field in self._meta.fields if not field.primary_key]
            kwargs["update_fields"] = [name for name in names if name not in PUBLICATION]
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        return reverse("guide", args=[self.plan_id])

    def clean(self) -> None:
        """Refuse texts that can't be shown; the admin calls this."""
        faults = {}
        for name, lines in (("title", False), ("destination", False), ("summary", True)):
            value = getattr(self, name)
            try:
                validators.check_text(value, len(value), lines=lines)
            except ValidationError as error:
                faults[name] = error
        if faults:
            raise ValidationError(faults)

    @property
    def spoken(self) -> str:
        """The language of its texts: as it says, else as their letters tell.

        Another program may have stored a language that the site does not have.
        """
        if self.language in languages.codes():
            return self.language
        return languages.guess(self.title, self.destination, self.summary)
