"""The processes that perform jobs."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class WorkerQuerySet(models.QuerySet["Worker"]):
    def with_now(self) -> Self:
        """Each row with the database's clock: this machine's may be wrong."""
        return self.annotate(now=Now())

    def alive(self) -> Self:
        """Those that beat within their lease."""
        return self.filter(lease_expires_at__gt=Now())

    def working(self) -> Self:
        """Those alive that go on taking jobs."""
        return self.alive().filter(draining=False, asked_to_stop=False)


class Worker(models.Model):
    """A worker process, as its last beat described it."""

    name = models.TextField(
        _("name"), primary_key=True, help_text=_("host, process id, random part")
    )
    started_at = models.DateTimeField(_("started"), db_default=Now())
    last_beat_at = models.DateTimeField(_("last beat"), db_default=Now())
    lease_expires_at = models.DateTimeField(_("held until"))
    slots = models.IntegerField(_("slots"))
    running = models.IntegerField(_("running"), db_default=0)
    version = models.TextField(_("version"))
    draining = models.BooleanField(_("stopping"), db_default=False)
    asked_to_stop = models.BooleanField(
        _("asked to stop"), db_default=False, help_text=_("read by the worker at every poll")
    )

    now: datetime  # by with_now()

    objects = WorkerQuerySet.as_manager()

    class Meta:
        db_table = "job_workers"
        verbose_name = _("worker")
        verbose_name_plural = _("workers")

    def __str__(self) -> str:
        return self.name

    @property
    def is_alive(self) -> bool:
        return self.lease_expires_at > self.now
