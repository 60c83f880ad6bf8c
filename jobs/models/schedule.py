"""Schedules: which job is enqueued when, and up to which moment that has been decided."""

from typing import ClassVar

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class ScheduleQuerySet(models.QuerySet["Schedule"]):
    def active(self) -> "ScheduleQuerySet":
        """Those that are switched on, but for those that have left the code."""
        return self.filter(enabled=True, undeclared_at=None)


class Schedule(models.Model):
    """One line of the timetable. The code declares it; an operator may change it."""

    name = models.TextField(_("name"), unique=True)
    kind = models.TextField(_("kind"), help_text=_("app.Model of the job"))
    arguments = models.JSONField(
        _("arguments"), default=dict, db_default={}, blank=True, encoder=DjangoJSONEncoder
    )
    cron = models.TextField(_("cron expression"))
    time_zone = models.TextField(_("time zone"))
    enabled = models.BooleanField(_("on"), default=True, db_default=True)
    # The watermark: every moment up to it had its run, or was skipped. Runs only raise it. It is
    # set to the present when the schedule is retimed, switched on or declared again.
    last_scheduled_for = models.DateTimeField(_("decided up to"), db_default=Now())
    grace = models.DurationField(
        _("grace"),
        null=True,
        blank=True,
        help_text=_("how late a run may start; empty: until the next one, at most a day"),
    )
    overlap = models.BooleanField(
        _("may overlap"),
        default=False,
        db_default=False,
        help_text=_("whether a run may start while the last one is still open"),
    )
    # What the code declared at the last deployment: what differs from it, a person has changed.
    declared = models.JSONField(
        _("declared in the code"), null=True, blank=True, encoder=DjangoJSONEncoder, editable=False
    )
    undeclared_at = models.DateTimeField(_("no longer in the code since"), null=True, blank=True)
    last_job_id = models.UUIDField(_("last run"), null=True, blank=True)
    skipped = models.IntegerField(_("skipped runs"), default=0, db_default=0)
    skipped_for = models.DateTimeField(_("last skipped"), null=True, blank=True)
    skip_reason = models.TextField(_("why skipped"), default="", db_default="", blank=True)
    created_at = models.DateTimeField(_("created"), db_default=Now())
    updated_at = models.DateTimeField(_("changed"), db_default=Now())

    objects = ScheduleQuerySet.as_manager()

    class Meta:
        db_table = "job_schedules"
        verbose_name = _("schedule")
        verbose_name_plural = _("schedules")
        constraints: ClassVar = [
            models.CheckConstraint(name="schedule_skipped", condition=Q(skipped__gte=0)),
        ]

    def __str__(self) -> str:
        return self.name
