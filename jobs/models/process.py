"""A process: jobs of any kind that belong together, counted, and the job that follows them."""

from typing import ClassVar

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from jobs.models.job import uuid7


class ProcessQuerySet(models.QuerySet["Process"]):
    def living(self) -> "ProcessQuerySet":
        """Those that have not ended."""
        return self.filter(ended_at=None)

    def unfollowed(self) -> "ProcessQuerySet":
        """Those after which something should have followed, and did not."""
        return self.exclude(follow_error="")


class Process(models.Model):
    """Its counts change in the transactions that move its jobs. Only `queue.processes` writes it.

    A process ends; it does not succeed or fail. The counts tell how its jobs ended.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    label = models.TextField(_("label"))
    total = models.IntegerField(_("total"), default=0, db_default=0)
    open = models.IntegerField(_("open"), default=0, db_default=0)
    failed = models.IntegerField(_("failed"), default=0, db_default=0)
    canceled = models.IntegerField(_("canceled"), default=0, db_default=0)
    sealed = models.BooleanField(
        _("sealed"),
        default=False,
        db_default=False,
        help_text=_("all its jobs are added: it ends with the last of them"),
    )
    follow = models.JSONField(
        _("what follows"), null=True, blank=True, encoder=DjangoJSONEncoder, editable=False
    )
    followed_at = models.DateTimeField(_("followed"), null=True, blank=True)
    follow_error = models.TextField(_("why nothing followed"), default="", db_default="")
    created_at = models.DateTimeField(_("created"), db_default=Now())
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = ProcessQuerySet.as_manager()

    class Meta:
        db_table = "processes"
        verbose_name = _("process")
        verbose_name_plural = _("processes")
        constraints: ClassVar = [
            models.CheckConstraint(
                name="process_counts",
                condition=Q(total__gte=0, open__gte=0, failed__gte=0, canceled__gte=0),
            ),
            models.CheckConstraint(
                name="process_ended_without_open_jobs",
                condition=Q(ended_at=None) | Q(open=0, sealed=True),
            ),
        ]
        indexes: ClassVar = [
            # The operators' list, newest first, and those that have not ended.
            models.Index(fields=["-created_at"], name="process_newest"),
            models.Index(
                fields=["created_at"], name="process_living", condition=Q(ended_at__isnull=True)
            ),
            # The few that need a person.
            models.Index(
                fields=["created_at"], name="process_unfollowed", condition=~Q(follow_error="")
            ),
        ]

    def __str__(self) -> str:
        return self.label or str(self.pk)

    @property
    def ended(self) -> int:
        """How many of its jobs have ended, in any way."""
        return self.total - self.open

    @property
    def succeeded(self) -> int:
        return self.ended - self.failed - self.canceled

    @property
    def percent(self) -> int:
        """Of its jobs, rounded down: 100 only when all have ended."""
        return 100 * self.ended // self.total if self.total else 100 * self.sealed
