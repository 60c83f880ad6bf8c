"""What is said of weeks, a row per week and language."""

from collections.abc import Iterable
from typing import ClassVar, Self

from django.db import models
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from guides import languages
from guides.derived import versions
from guides.models import Guide
from guides.weeks.keys import Week

KIND = "week"


class WeekTextQuerySet(models.QuerySet["WeekText"]):
    def written(self) -> Self:
        return self.filter(language__in=languages.codes()).exclude(summary_text="")

    def shown(self) -> Self:
        """Written ones of weeks that still have a published guide."""
        guides = Guide.objects.published().order_by()
        of_week = guides.filter(
            created_at__gte=OuterRef("starts_at"), created_at__lt=OuterRef("ends_at")
        )
        return self.written().filter(Exists(of_week))

    def locked(self, week_key: str) -> dict[str, "WeekText"]:
        """The rows of a week by their language, locked in the order of their ids."""
        rows = self.filter(week_key=week_key).order_by("pk").select_for_update()
        return {row.language: row for row in rows}


class WeekText(models.Model):
    """What is said of one week in one language. The row exists from the first request on."""

    week_key = models.CharField(_("week"), max_length=8, help_text=_("such as 2026-W47"))
    language = models.CharField(_("language"), max_length=10)
    summary_text = models.TextField(_("text"), blank=True, default="", db_default="")
    # The answer of the model, whole and as it came: pages show only what `shown` makes of it.
    summary_json = models.JSONField(_("answer"), default=dict, db_default={})
    source_hash = models.CharField(
        _("hash of its facts"), max_length=64, blank=True, default="", db_default=""
    )
    # Its guides are those created between these moments, by the TIME_ZONE of the last request.
    starts_at = models.DateTimeField(_("begins"))
    ends_at = models.DateTimeField(_("ends"))
    # The last request: an older one that is answered later replaces nothing.
    asked = models.UUIDField(_("last process"), null=True, blank=True)
    asked_hash = models.CharField(max_length=64, blank=True, default="", db_default="")
    is_awaited = models.BooleanField(_("on its way"), default=False, db_default=False)
    edited_at = models.DateTimeField(_("corrected by a person"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), db_default=Now())
    updated_at = models.DateTimeField(_("changed"), db_default=Now())

    objects = WeekTextQuerySet.as_manager()

    class Meta:
        db_table = "weekly_summaries"
        verbose_name = _("text of a week")
        verbose_name_plural = _("texts of weeks")
        constraints: ClassVar = [
            # Also serves the list of weeks, newest first, and the page of one.
            models.UniqueConstraint(fields=["week_key", "language"], name="one_text_per_week"),
        ]

    def __str__(self) -> str:
        return f"{self.week_key} ({self.language})"

    def get_absolute_url(self) -> str:
        return reverse("week", args=[self.week_key])

    @property
    def week(self) -> Week:
        return Week.parse(self.week_key)

    @property
    def unit(self) -> str:
        """Its name among the versions of texts."""
        return versions.unit_of(KIND, self.language, self.week_key)


def begin(week: Week, codes: Iterable[str]) -> None:
    """Create the rows of a week that are not there yet."""
    bounds = {"starts_at": week.starts_at, "ends_at": week.ends_at}
    rows = [WeekText(week_key=week.key, language=code, **bounds) for code in codes]
    WeekText.objects.bulk_create(rows, ignore_conflicts=True)
