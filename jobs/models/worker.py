"""The processes that perform jobs."""

from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.db import models
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

HOUR = timedelta(hours=1)
REMEMBERED = 5  # ended workers of each way that does not stay


class WorkerQuerySet(models.QuerySet["Worker"]):
    def with_now(self) -> Self:
        """Each row with the time of the database's clock: this machine's may be wrong."""
        return self.annotate(now=Now())

    def alive(self) -> Self:
        """Workers that beat within their lease."""
        return self.filter(lease_expires_at__gt=Now())

    def silent_for(self, lease: timedelta) -> Self:
        """Workers whose lease ended a whole lease ago, so that their rows may be deleted.

        The row of a worker that was asked to stop is kept for an hour: it may only be frozen,
        and must still find the request when it wakes up.
        """
        patience = Case(When(asked_to_stop=True, then=max(lease, HOUR)), default=Value(lease))
        return self.filter(lease_expires_at__lt=Now() - patience, ended_at=None)

    def reserve(self, worker: str, kind: str) -> bool:
        """Choose this worker to empty itself for a suspect; False if another worker does."""
        others = self.exclude(name=worker).filter(emptying_for=kind)
        others.filter(Q(lease_expires_at__lt=Now()) | Q(draining=True)).update(
            emptying_for=""
        )  # dead workers
        if others.exists():
            return False
        return bool(self.filter(name=worker).update(emptying_for=kind))

    def late(self) -> Self:
        """Live workers that have missed two beats: more than half of their lease has passed."""
        facts = {"left": F("lease_expires_at") - Now(), "passed": Now() - F("last_beat_at")}
        return self.alive().alias(**facts).filter(left__lt=F("passed"))

    def working(self) -> Self:
        """Live workers that still take jobs."""
        return self.alive().filter(draining=False, asked_to_stop=False, ended_at=None)

    def end(self, worker: str, way: str, *, is_paying: bool) -> None:
        """The worker has stopped.

        The last few rows of workers started by cron or by a request are kept: they tell when the
        next one is due.
        """
        mine = self.filter(name=worker)
        if not way:
            mine.delete()
            return
        lease = {} if is_paying else {"lease_expires_at": Now()}
        mine.update(ended_at=Now(), running=0, emptying_for="", **lease)
        ended = self.filter(way=way, ended_at__isnull=False).order_by("-started_at")
        old = list(ended.values_list("name", flat=True)[REMEMBERED:])
        self.filter(name__in=old).delete()


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
    way = models.TextField(
        _("started by"), db_default="", blank=True, help_text=_("empty: it stays until stopped")
    )
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    emptying_for = models.TextField(
        _("emptying itself for"),
        db_default="",
        blank=True,
        help_text=_("the kind of a job that must run alone"),
    )

    now: datetime  # by with_now()
    held = 0  # jobs that it holds; set by `figures.count_held()`

    objects = WorkerQuerySet.as_manager()

    class Meta:
        db_table = "job_workers"
        verbose_name = _("worker")
        verbose_name_plural = _("workers")
        constraints: ClassVar = [
            # One worker is enough to run a suspect alone; the others keep working.
            models.UniqueConstraint(
                fields=["emptying_for"],
                condition=~Q(emptying_for=""),
                name="one_worker_empties_itself",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_alive(self) -> bool:
        return self.lease_expires_at > self.now

    @property
    def is_late(self) -> bool:
        """Whether it has missed two beats: it beats every quarter of its lease."""
        return self.is_alive and self.lease_expires_at - self.now < self.now - self.last_beat_at
