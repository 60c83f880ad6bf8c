"""A job: a row of your own model. Only `jobs.queue` changes its status."""

import secrets
import time
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from jobs import tracing
from jobs.db import making
from jobs.models.selecting import MAX_INTERRUPTIONS, JobQuerySet
from jobs.models.status import ENDED, OPEN, Status

if TYPE_CHECKING:
    from jobs.run import Run


def uuid7() -> uuid.UUID:
    """A time-ordered UUID, so that new rows land side by side in the index.

    With a part of the millisecond: jobs that are made one after the other are in this order.
    """
    milliseconds, nanoseconds = divmod(time.time_ns(), 1_000_000)
    part = (nanoseconds << 12) // 1_000_000
    high = (milliseconds << 16) | (0x7 << 12) | part
    low = (0b10 << 62) | secrets.randbits(62)
    return uuid.UUID(int=(high << 64) | low)


class Job(models.Model):
    """A piece of work, kept as a row: subclass it, add columns, write `perform`."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    # Every default is in the database too: a row inserted by plain SQL is a valid job.
    status = models.TextField(
        _("status"), choices=Status.choices, default=Status.QUEUED, db_default=Status.QUEUED
    )
    priority = models.SmallIntegerField(
        _("priority"), default=0, db_default=0, help_text=_("lower first")
    )
    run_after = models.DateTimeField(_("not before"), db_default=Now())
    attempts = models.IntegerField(_("attempts"), default=0, db_default=0)
    max_attempts = models.IntegerField(_("most attempts"), default=3, db_default=3)
    interruptions = models.IntegerField(_("interruptions"), default=0, db_default=0)
    unavailable_since = models.DateTimeField(_("provider unavailable since"), null=True, blank=True)
    epoch = models.IntegerField(_("epoch"), default=0, db_default=0)
    process_id = models.UUIDField(_("process"), null=True, blank=True)
    parent_id = models.UUIDField(
        _("came from"), null=True, blank=True, help_text=_("the job that enqueued it")
    )
    trace = models.TextField(  # noqa: DJ001 (NULL: its trace begins with it)
        _("trace"), null=True, blank=True, help_text=_("W3C traceparent")
    )
    schedule_name = models.TextField(_("schedule"), null=True, blank=True)  # noqa: DJ001
    scheduled_for = models.DateTimeField(_("scheduled for"), null=True, blank=True)
    unique_key = models.TextField(  # noqa: DJ001 (NULL: as many as asked for)
        _("unique key"), null=True, blank=True, help_text=_("until a move lets it go")
    )
    unique_while = models.TextField(_("unique while"), null=True, blank=True)  # noqa: DJ001
    locked_at = models.DateTimeField(_("held since"), null=True, blank=True)
    locked_by = models.TextField(_("held by"), null=True, blank=True)  # noqa: DJ001 (NULL: none)
    lease_expires_at = models.DateTimeField(_("held until"), null=True, blank=True)
    last_error = models.TextField(_("last error"), null=True, blank=True)  # noqa: DJ001
    error_kind = models.TextField(_("kind of error"), null=True, blank=True)  # noqa: DJ001
    progress = models.JSONField(_("progress"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), db_default=Now())
    updated_at = models.DateTimeField(_("changed"), db_default=Now())
    finished_at = models.DateTimeField(_("ended"), null=True, blank=True)
    log_ref = models.TextField(  # noqa: DJ001 (NULL: its whole history is in the database)
        _("archived history"), null=True, blank=True, help_text=_("files that hold older history")
    )

    # Settings of the model, not of the row: override them in a subclass.
    timeout: ClassVar[timedelta] = timedelta(minutes=1)
    backoff_base: ClassVar[timedelta] = timedelta(seconds=5)
    backoff_cap: ClassVar[timedelta] = timedelta(minutes=10)
    patience: ClassVar[timedelta] = timedelta(hours=24)  # with an unavailable provider
    steps: ClassVar[Mapping[str, Any]] = {}  # names of its steps for people, in their order
    causes: ClassVar[Mapping[str, Any]] = {}  # words for its own kinds of errors
    # When it is enqueued by itself: a cron expression, or a declaration of `jobs.schedules` such
    # as Daily("06:00"), or a list of them. None: only when code enqueues it.
    schedule: ClassVar[Any] = None
    takes_at_claim: ClassVar[bool] = False  # the token and the price; else a paid call does
    is_housekeeping: ClassVar[bool] = False  # its rows are deleted a week after their end

    objects = JobQuerySet.as_manager()

    class Meta:
        abstract = True
        indexes: ClassVar = [
            # Lists by state, and the search for expired leases. No index contains
            # lease_expires_at: a beat must stay a HOT update.
            models.Index(fields=["status", "locked_at"], name="%(class)s_state"),
            # The claim, column for column.
            models.Index(
                fields=["priority", "run_after", "created_at"],
                name="%(class)s_claim",
                condition=Q(status="queued"),
            ),
            # "Is a suspect due?", asked at every poll; nearly empty.
            models.Index(
                fields=["run_after"],
                name="%(class)s_suspect",
                condition=Q(status="queued", interruptions__gte=MAX_INTERRUPTIONS - 1),
            ),
            # Lists of ended jobs, newest first, and counts of them. Written once per job.
            models.Index(
                fields=["status", "id"], name="%(class)s_ended", condition=Q(status__in=ENDED)
            ),
            # Failures by kind: which kinds exist, how many of each, and the list of one kind.
            models.Index(
                fields=["error_kind", "id"],
                name="%(class)s_failures",
                condition=Q(status="failed"),
            ),
            # The jobs of one process. A job without one costs nothing here.
            models.Index(
                fields=["process_id"],
                name="%(class)s_process",
                condition=Q(process_id__isnull=False),
            ),
            # "Is a run of this schedule still open?" A job without a schedule costs nothing here.
            models.Index(
                fields=["schedule_name"],
                name="%(class)s_open_run",
                condition=Q(schedule_name__isnull=False, status__in=OPEN),
            ),
            # What a job led to, newest first.
            models.Index(
                fields=["parent_id", "id"],
                name="%(class)s_parent",
                condition=Q(parent_id__isnull=False),
            ),
            # All jobs of one trace, by the beginning of the traceparent. Not by an expression:
            # PostgreSQL has no statistics of it, and would rather walk all ids. A job without a
            # trace costs nothing here.
            models.Index(
                fields=["trace"],
                name="%(class)s_trace",
                opclasses=["text_pattern_ops"],
                condition=Q(trace__isnull=False),
            ),
        ]
        constraints: ClassVar = [
            # However many workers look at a schedule, each of its moments has one run.
            models.UniqueConstraint(
                fields=["schedule_name", "scheduled_for"],
                condition=Q(scheduled_for__isnull=False),
                name="%(class)s_scheduled",
            ),
            # A key is only ever set by the insert and cleared by moves, so no move can break this.
            # Among open jobs: workers of older code end jobs without clearing their key.
            models.UniqueConstraint(
                fields=["unique_key"],
                condition=Q(unique_key__isnull=False, status__in=OPEN),
                name="%(class)s_unique_key",
            ),
            models.CheckConstraint(
                name="%(class)s_status",
                condition=Q(status__in=Status.values),
            ),
            models.CheckConstraint(
                name="%(class)s_attempts",
                condition=Q(attempts__gte=0, attempts__lte=F("max_attempts"), max_attempts__gte=1),
            ),
            models.CheckConstraint(
                name="%(class)s_counts",
                condition=Q(interruptions__gte=0, epoch__gte=0),
            ),
            models.CheckConstraint(
                name="%(class)s_held_while_processing",
                condition=Q(
                    status="processing",
                    locked_at__isnull=False,
                    locked_by__isnull=False,
                    lease_expires_at__isnull=False,
                )
                | ~Q(status="processing")
                & Q(locked_at=None, locked_by=None, lease_expires_at=None),
            ),
            models.CheckConstraint(
                name="%(class)s_finished_when_ended",
                condition=Q(status__in=ENDED, finished_at__isnull=False)
                | ~Q(status__in=ENDED) & Q(finished_at=None),
            ),
        ]

    @making.only_for_new_ones
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = kwargs if args else making.defaults(type(self)) | kwargs
        super().__init__(*args, **given)

    def __str__(self) -> str:
        return f"{self._meta.label} {self.pk}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert a new job, or update the model's own columns: `jobs.queue` writes the others.

        Saving all columns of an old copy would undo the moves made since it was read.
        """
        if self._state.adding:
            tracing.note_origin(self)
        elif kwargs.get("update_fields") is None:
            base = {field.name for field in Job._meta.fields}
            kwargs["update_fields"] = [f.name for f in self._meta.fields if f.name not in base]
        super().save(*args, **kwargs)

    @classmethod
    def provider_name(cls) -> str | None:
        """The provider whose limits apply, e.g. "gemini:some-model"; None: no limits."""
        return None

    @classmethod
    def provider_names(cls) -> set[str]:
        """Every provider that one of its jobs may run under."""
        name = cls.provider_name()
        return {name} if name else set()

    @property
    def limited_by(self) -> str | None:
        """The provider that this job runs under."""
        return self.provider_name()

    @classmethod
    def provider_is_free(cls) -> bool:
        """Whether the provider costs nothing: then it needs no price and no limit."""
        return False

    @classmethod
    def provider_defaults(cls) -> dict[str, Any]:
        """Columns of its provider's row, when it is made."""
        return {}

    @classmethod
    def check_setup(cls) -> None:
        """Raise ImproperlyConfigured if it can't run here; a worker calls this before it starts."""

    @classmethod
    def for_schedule(cls, scheduled_for: datetime, **arguments: Any) -> Self:
        """A new job for this moment of its schedule; the arguments are those it declares.

        Override it if the moment matters, e.g. for the week that a weekly job is about. A run
        that a person starts by hand gets the moment at which they did.
        """
        return cls(**arguments)

    @classmethod
    def longest_timeout(cls) -> timedelta:
        """The longest that one of its runs may take: a worker that stops waits for them."""
        return cls.timeout

    @property
    def time_limit(self) -> timedelta:
        """How long a run of this job may take."""
        return self.timeout

    def choose_wait(self, error: BaseException) -> float | None:
        """Seconds until the next attempt; None: the model's backoff; infinite: there is none."""
        return None

    @property
    def is_cancelable(self) -> bool:
        """Whether a cancel may end it; False: it has its own way of being canceled."""
        return True

    @classmethod
    def note_batch(cls, ids: Iterable[uuid.UUID], remote_id: str) -> None:
        """These jobs' calls are in a batch of this id at their provider; empty: not any more."""

    def perform(self, run: "Run") -> Any:
        """Do the work: slow, in no transaction, possibly repeated. Returns the result."""
        raise NotImplementedError(f"{self._meta.label} has no perform().")

    # Hooks run in the transaction of the move they are named after, so keep them short:
    # a few queries, nothing slow. A hook that is not overridden costs nothing.

    def on_start(self) -> None: ...

    def on_success(self, result: Any) -> None: ...

    def on_failure(self, error: BaseException) -> None: ...

    def on_requeue(self) -> None: ...

    def on_cancel(self) -> None: ...

    def delete(
        self, using: str | None = None, keep_parents: bool = False
    ) -> tuple[int, dict[str, int]]:
        return type(self).objects.using(using).filter(pk=self.pk).delete()
