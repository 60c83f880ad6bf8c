"""Events: what happened, here or in another system. Each is recorded once."""

from datetime import timedelta
from typing import Any, ClassVar

from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from jobs.errors import NotEnded
from jobs.models.job import uuid7
from jobs.models.status import ENDED


class EventQuerySet(models.QuerySet["Event"]):
    def unprocessed(self) -> "EventQuerySet":
        return self.filter(processed_at=None)

    def processed_before(self, age: timedelta) -> "EventQuerySet":
        """Those that were processed longer ago than this."""
        return self.filter(processed_at__lt=Now() - age)

    def delete(self) -> tuple[int, dict[str, int]]:
        """Delete events with their jobs; raises NotEnded if one of the jobs has not ended."""
        jobs: Any = self.model._meta.get_field("jobs").related_model
        with transaction.atomic(using=self.db):
            ids = list(self.values_list("pk", flat=True))
            # Locked, so that nobody requeues one meanwhile: jobs before events, as in every move.
            rows = jobs.objects.filter(event__in=ids).order_by("id").select_for_update()
            for id, event, status in rows.values_list("id", "event", "status"):
                if status not in ENDED:
                    raise NotEnded(
                        f"The event {event} has a job that is {status}: cancel {id} before."
                    )
            return super(EventQuerySet, self.filter(pk__in=ids)).delete()

    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]


class Event(models.Model):
    """Recorded in the transaction of what happened; its handlers run as jobs."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    source = models.TextField(_("source"), help_text=_("the system that tells of it"))
    kind = models.TextField(_("kind"))
    dedupe_key = models.TextField(  # noqa: DJ001 (NULL: every record is a new event)
        _("dedupe key"), null=True, blank=True, help_text=_("the same event has the same key")
    )
    payload = models.JSONField(_("payload"), default=dict, db_default={}, blank=True)
    created_at = models.DateTimeField(_("recorded"), db_default=Now())
    processed_at = models.DateTimeField(_("processed"), null=True, blank=True)

    objects = EventQuerySet.as_manager()

    class Meta:
        db_table = "events"
        verbose_name = _("event")
        verbose_name_plural = _("events")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["source", "dedupe_key"],
                condition=Q(dedupe_key__isnull=False),
                name="one_event_per_dedupe_key",
            ),
        ]
        indexes: ClassVar = [
            # Those that are not processed, oldest first; and retention.
            models.Index(fields=["processed_at", "created_at"], name="event_processed"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} ({self.source})"

    def delete(
        self, using: str | None = None, keep_parents: bool = False
    ) -> tuple[int, dict[str, int]]:
        return type(self).objects.using(using).filter(pk=self.pk).delete()
