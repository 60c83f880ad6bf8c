"""Kinds of jobs that a person has paused, with or without a provider."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class PauseQuerySet(models.QuerySet["Pause"]):
    def lasting(self) -> "PauseQuerySet":
        """Pauses whose end has not come."""
        return self.filter(Q(until=None) | Q(until__gt=Now()))

    def of(self, kind: str) -> "PauseQuerySet":
        return self.lasting().filter(kind=kind)


class Pause(models.Model):
    """No job of this kind is claimed until a person resumes it, or until this moment.

    One row per kind. It stays when the pause is over: it tells since when its jobs may run.
    """

    kind = models.TextField(_("kind"), primary_key=True, help_text=_("app.Model of the jobs"))
    reason = models.TextField(_("reason"), db_default="", blank=True)
    until = models.DateTimeField(_("until"), null=True, blank=True, help_text=_("empty: resumed"))
    by = models.TextField(_("paused by"), db_default="", blank=True)
    created_at = models.DateTimeField(_("since"), db_default=Now())

    objects = PauseQuerySet.as_manager()

    class Meta:
        db_table = "job_pauses"
        verbose_name = _("pause")
        verbose_name_plural = _("pauses")

    def __str__(self) -> str:
        return self.kind

    def lasts(self, now: datetime) -> bool:
        """Whether it is not over at this moment of the database's clock."""
        return self.until is None or self.until > now
