"""Files that hold the history of ended jobs, and the sums that stay when rows leave."""

from decimal import Decimal
from typing import ClassVar

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Archive(models.Model):
    """One file. `members` says which of its bytes hold which jobs."""

    name = models.TextField(_("file"), unique=True)
    kind = models.TextField(_("kind"), help_text=_("app.Model of the jobs"))
    day = models.DateField(_("day"))
    first_id = models.UUIDField(_("first job"))
    last_id = models.UUIDField(_("last job"))
    rows = models.IntegerField(_("rows"))
    bytes = models.BigIntegerField(_("bytes"))
    sha256 = models.CharField(_("hash"), max_length=64)
    # A file is many gzip members: [first job, last job, offset, length] of each, by job id.
    members = models.JSONField(_("members"), default=list)
    created_at = models.DateTimeField(_("written"), db_default=Now())

    class Meta:
        db_table = "archives"
        verbose_name = _("archive")
        verbose_name_plural = _("archives")
        indexes: ClassVar = [
            # Which files may hold a job that was deleted.
            models.Index(fields=["kind", "first_id", "last_id"], name="archive_of_job"),
        ]

    def __str__(self) -> str:
        return self.name


class Total(models.Model):
    """How many claims of a kind ended how, on a day. Sum the rows: each settlement adds its own.

    One row per day would be locked by every worker at once. Retention adds old rows together.
    """

    kind = models.TextField(_("kind"), help_text=_("app.Model of the jobs"))
    outcome = models.TextField(_("outcome"))
    day = models.DateField(_("day"))
    number = models.BigIntegerField(_("number"))
    milliseconds = models.BigIntegerField(_("milliseconds"))

    class Meta:
        db_table = "job_totals"

    def __str__(self) -> str:
        return f"{self.kind} {self.outcome} {self.day}"


class CallTotal(models.Model):
    """The money of calls whose rows have left: added up in the transaction that deletes them."""

    provider = models.TextField(_("provider"))
    kind = models.TextField(_("kind"), help_text=_("app.Model of the jobs"))
    day = models.DateField(_("day"))
    state = models.TextField(_("state"))
    number = models.BigIntegerField(_("number"), default=0)
    cost = models.DecimalField(_("cost"), max_digits=24, decimal_places=8, default=Decimal(0))

    class Meta:
        db_table = "call_totals"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["provider", "kind", "day", "state"], name="one_sum_of_calls_per_day"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.day}"
