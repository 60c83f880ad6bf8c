"""Versions of derived texts, and the commissions that brought them."""

from decimal import Decimal
from typing import Any, ClassVar

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from jobs.models import uuid7


def kind_of(unit: str) -> str:
    """The first part of a unit's name."""
    return unit.partition(":")[0]


class Version(models.Model):
    """One state of a derived text. Versions are only added: nothing is overwritten."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    unit = models.TextField(_("unit"), help_text=_("what it is about, e.g. topic:en:temple"))
    kind = models.TextField(_("kind"), default="", db_default="", editable=False)
    version = models.IntegerField(_("version"))
    payload = models.JSONField(_("content"))
    payload_hash = models.CharField(_("payload hash"), max_length=64)
    made_by = models.TextField(_("made by"), help_text=_("a provider and model, or a person"))
    # No foreign keys: requests are deleted with their consumption, and versions stay.
    job_id = models.UUIDField(_("request"), null=True, blank=True)
    process_id = models.UUIDField(_("process"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), db_default=Now())

    class Meta:
        db_table = "unit_versions"
        verbose_name = _("version of a text")
        verbose_name_plural = _("versions of texts")
        constraints: ClassVar = [
            # Also serves the search for the latest version.
            models.UniqueConstraint(fields=["unit", "version"], name="one_version_per_number"),
        ]
        indexes: ClassVar = [
            # The admin's list of one kind, newest first. That of all kinds goes by the ids.
            models.Index(fields=["kind", "-id"], name="version_kind"),
            # The search for the beginning of a unit's name.
            models.Index(
                fields=["unit"], name="version_unit_begins", opclasses=["text_pattern_ops"]
            ),
            # What one process brought.
            models.Index(
                fields=["process_id"],
                name="version_process",
                condition=models.Q(process_id__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.unit} #{self.version}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Note the kind, which is the first part of the unit's name."""
        self.kind = kind_of(self.unit)
        super().save(*args, **kwargs)


class Commission(models.Model):
    """What a slice asked for with one process, and what it cost.

    It outlives the requests, which are deleted when their answers are kept.
    """

    process_id = models.UUIDField(_("process"), primary_key=True)
    slice = models.TextField(_("slice"), help_text=_("writing, translation, topics or weeks"))
    subject = models.TextField(_("subject"))
    plan_id = models.TextField(_("plan id"), blank=True, default="", db_default="")
    asked_by = models.TextField(_("asked by"), blank=True, default="", db_default="")
    requests = models.IntegerField(_("requests"), default=0, db_default=0)
    failed = models.IntegerField(_("failed"), default=0, db_default=0)
    made_by = models.TextField(_("made by"), blank=True, default="", db_default="")
    cost = models.DecimalField(
        _("cost"), max_digits=18, decimal_places=8, default=Decimal(0), db_default=Decimal(0)
    )
    created_at = models.DateTimeField(_("asked"), db_default=Now())
    kept_at = models.DateTimeField(_("kept"), null=True, blank=True)

    class Meta:
        db_table = "commissions"
        verbose_name = _("commission")
        verbose_name_plural = _("commissions")
        indexes: ClassVar = [
            # The commissions of one guide, newest first.
            models.Index(
                fields=["plan_id", "-created_at"],
                name="commission_guide",
                condition=~models.Q(plan_id=""),
            ),
            # The admin's list.
            models.Index(fields=["-created_at"], name="commission_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.slice}: {self.subject}"
