"""What "needs a person" has told people about, outside the console."""

from datetime import timedelta
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from jobs.models.job import uuid7


class AlertQuerySet(models.QuerySet["Alert"]):
    def open(self) -> Self:
        return self.filter(ended_at=None)

    def ended_within(self, time: timedelta) -> Self:
        return self.filter(ended_at__gt=Now() - time)


class Alert(models.Model):
    """One thing that needs a person, from its beginning to its end."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    key = models.TextField(_("key"), help_text=_("what it is about, without its figures"))
    kind = models.TextField(_("kind"))
    text = models.TextField(_("text"))
    path = models.TextField(_("page"), db_default="", blank=True, help_text=_("of the console"))
    began_at = models.DateTimeField(_("began"), db_default=Now())
    seen_at = models.DateTimeField(_("last seen"), db_default=Now())
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = AlertQuerySet.as_manager()

    class Meta:
        db_table = "alerts"
        verbose_name = _("alert")
        verbose_name_plural = _("alerts")
        constraints: ClassVar = [
            # Two looks at the same moment make one alert.
            models.UniqueConstraint(
                fields=["key"], condition=Q(ended_at=None), name="one_open_alert_per_key"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["-began_at"], name="alert_newest"),
            # Which are open, and which have ended lately.
            models.Index(fields=["ended_at"], name="alert_ended"),
        ]

    def __str__(self) -> str:
        return self.text
