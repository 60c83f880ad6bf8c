"""The history of a job: its claims and how they ended."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Outcome(models.TextChoices):
    """How one claim ended."""

    SUCCEEDED = "succeeded", _("succeeded")
    FAILED = "failed", _("failed")  # a fault of the job itself: uses an attempt
    TIMED_OUT = "timed_out", _("timed out")  # likewise
    LOST = "lost", _("lost")  # its worker died or vanished: counts an interruption
    RELEASED = "released", _("released")  # its worker stopped and gave it back
    SNOOZED = "snoozed", _("snoozed")  # the job asked for a later moment
    UNAVAILABLE = "unavailable", _("unavailable")  # the provider's fault: limited by patience
    CANCELED = "canceled", _("canceled")


class Attempt(models.Model):
    """One claim of one job and how it ended. Written once, by the move that ended it."""

    # No foreign key: history outlives its job, and each kind of job has its own table.
    job_id = models.UUIDField(_("job"))
    kind = models.TextField(_("kind"), help_text=_("app.Model of the job"))
    epoch = models.IntegerField(_("epoch"))
    worker = models.TextField(_("worker"))
    started_at = models.DateTimeField(_("started"))
    ended_at = models.DateTimeField(_("ended"), db_default=Now())
    outcome = models.TextField(_("outcome"), choices=Outcome.choices)
    error = models.TextField(_("error"), null=True)  # noqa: DJ001 (NULL: none)
    error_class = models.TextField(  # noqa: DJ001 (NULL: no error, or of an older release)
        _("class of the error"), null=True
    )
    traceback = models.TextField(_("traceback"), null=True)  # noqa: DJ001
    steps = models.JSONField(_("steps"), null=True, help_text=_("milliseconds per step"))

    is_archived = False  # read from a file; its row has left

    class Meta:
        db_table = "job_attempts"
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        constraints: ClassVar = [
            # One end per claim. Serves the history of a job as well.
            models.UniqueConstraint(fields=["job_id", "epoch"], name="one_end_per_claim"),
            models.CheckConstraint(name="attempt_outcome", condition=Q(outcome__in=Outcome.values)),
        ]
        indexes: ClassVar = [
            # For the console: recent outcomes per kind, and how long they took.
            models.Index(fields=["kind", "outcome", "ended_at"], name="attempt_recent"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} #{self.epoch}"
