"""The job that handles an event."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import models, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from jobs.db import sessions
from jobs.events import handlers
from jobs.models import Event, Job, JobQuerySet, Status
from jobs.run import Run

SETTLED = (Status.SUCCEEDED, Status.CANCELED)  # a failed one needs a person


class EventJobQuerySet(JobQuerySet):
    def delete(self) -> tuple[int, dict[str, int]]:
        """Delete ended jobs; an event that waited for nothing else is processed."""
        with transaction.atomic(using=self.db):
            events = set(self.order_by().values_list("event_id", flat=True))
            deleted = super().delete()
            note_processed(events)
        return deleted

    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]


class EventJob(Job):
    """Gives one event to one of its handlers."""

    event = models.ForeignKey(Event, models.CASCADE, related_name="jobs", verbose_name=_("event"))
    handler = models.TextField(_("handler"), help_text=_("its registered name"))

    objects = EventJobQuerySet.as_manager()  # type: ignore[misc]

    class Meta(Job.Meta):
        db_table = "event_jobs"
        verbose_name = _("event job")
        verbose_name_plural = _("event jobs")
        constraints = [
            *Job.Meta.constraints,
            models.UniqueConstraint(fields=["event", "handler"], name="one_job_per_event_handler"),
        ]

    def __str__(self) -> str:
        return f"{self.handler} ({self.event_id})"  # not the event's kind, which is a query

    def perform(self, run: Run) -> Any:
        event = self.event
        sessions.give_back()  # the handler may be slow
        return handlers.find_handler(event.kind, self.handler).handle(event, run)

    def on_success(self, result: Any) -> None:
        for event in locked([self.event_id]):
            if then := handlers.find_handler(event.kind, self.handler).then:
                then(event, result)
        note_processed([self.event_id])

    def on_cancel(self) -> None:
        note_processed([self.event_id])

    def on_requeue(self) -> None:
        Event.objects.filter(pk=self.event_id).update(processed_at=None)


def locked(ids: Iterable[UUID]) -> models.QuerySet[Event]:
    """These events, locked until the transaction ends."""
    return Event.objects.filter(pk__in=list(ids)).order_by("pk").select_for_update()


def note_processed(ids: Iterable[UUID]) -> None:
    """Mark those events whose last job has succeeded or was canceled.

    They are locked first: of two handlers that end at the same moment, the second one waits, and
    then sees that the first has ended.
    """
    waiting = {event.pk for event in locked(ids).only("pk")}
    unsettled = EventJob.objects.filter(event__in=waiting).exclude(status__in=SETTLED)
    done = waiting - set(unsettled.values_list("event_id", flat=True))
    Event.objects.filter(pk__in=done, processed_at=None).update(processed_at=Now())
