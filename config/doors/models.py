"""What the doors remember."""

from datetime import date, datetime
from typing import ClassVar

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from jobs.models import uuid7

USUAL_QUOTA = 1_000


class Throttle(models.Model):
    """How often an address or a name tried lately. `limiter` writes it, and forgets old rows."""

    key = models.TextField(primary_key=True)  # a keyed hash: no name or address is kept
    tries = models.IntegerField(default=0)
    until = models.DateTimeField(
        db_default=Now()
    )  # when it may try again; for visitors, when all is repaid

    class Meta:
        db_table = "throttles"
        indexes: ClassVar = [
            models.Index(fields=["until"], name="throttle_until_idx")
        ]  # forgetting

    def __str__(self) -> str:
        return self.key


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def with_now(self) -> "ApiTokenQuerySet":
        """Each row with the time of the database's clock, which its properties compare with."""
        return self.annotate(now=Now())  # type: ignore[no-redef]

    def usable(self) -> "ApiTokenQuerySet":
        return self.filter(revoked_at=None)


class ApiToken(models.Model):
    """Lets another system hand over guides. Its secret is shown once; only a hash is kept."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(
        _("name"), max_length=100, unique=True, help_text=_("the system that uses it")
    )
    # Empty for the row of the setting API_TOKEN, whose secret is in the environment.
    digest = models.CharField(_("hash"), max_length=64, unique=True, editable=False)
    pictures_per_day = models.IntegerField(
        _("pictures per day"),
        null=True,
        blank=True,
        default=USUAL_QUOTA,
        validators=[MinValueValidator(0)],
        help_text=_("a day of the site's time zone; empty: no limit"),
    )
    used = models.IntegerField(_("used"), default=0, editable=False)
    used_on = models.DateField(_("used on"), null=True, editable=False)
    created_at = models.DateTimeField(_("created"), db_default=Now(), editable=False)
    last_used_at = models.DateTimeField(_("last used"), null=True, editable=False)
    revoked_at = models.DateTimeField(_("revoked"), null=True, editable=False)

    now: datetime  # by with_now()

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        db_table = "api_tokens"
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="api_token_quota",
                condition=Q(used__gte=0) & (Q(pictures_per_day=None) | Q(pictures_per_day__gte=0)),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def booking_day(self) -> date:
        """Only a later day resets the count: a corrected clock must not."""
        today = timezone.localdate(self.now)
        return max(self.used_on or today, today)

    @property
    def used_today(self) -> int:
        return self.used if self.used_on == self.booking_day else 0
