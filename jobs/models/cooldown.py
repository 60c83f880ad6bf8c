"""Cooldowns: no further job with a key until some time after the last one was enqueued."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _


class Cooldown(models.Model):
    """One row per key. The session that moves its end into the future may enqueue, others not."""

    kind = models.TextField(_("kind"), help_text=_("app.Model of the jobs"))
    key = models.TextField(_("unique key"))
    until = models.DateTimeField(_("until"))

    class Meta:
        db_table = "job_cooldowns"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["kind", "key"], name="one_cooldown_per_key"),
        ]
        indexes: ClassVar = [
            # Retention deletes those that are over.
            models.Index(fields=["until"], name="cooldown_over"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
