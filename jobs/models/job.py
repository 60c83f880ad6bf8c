"""A job: a row of your own model. Only `jobs.queue` changes its status."""

import secrets
import time
import uuid
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.apps import apps
from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from jobs.db.lookups import AnyOf
from jobs.errors import NotEnded

if TYPE_CHECKING:
    from jobs.run import Run

MAX_INTERRUPTIONS = 3


class Status(models.TextChoices):
    """Where a job is in its life; `queue.MOVES` says where it can go from there."""

    QUEUED = "queued", _("queued")  # waits until run_after, then for a worker
    PROCESSING = "processing", _("processing")  # held by one worker until its lease ends
    SUCCEEDED = "succeeded", _("succeeded")
    FAILED = "failed", _("failed")  # has given up: attempts, patience or interruptions ran out
    CANCELED = "canceled", _("canceled")  # by a person, or by the job itself


ENDED = (Status.SUCCEEDED, Status.FAILED, Status.CANCELED)


def uuid7() -> uuid.UUID:
    """A time-ordered UUID, so that new rows land side by side in the index."""
    milliseconds = time.time_ns() // 1_000_000
    chance = secrets.randbits(74)
    high = (milliseconds << 16) | (0x7 << 12) | (chance >> 62)
    low = (0b10 << 62) | (chance & ((1 << 62) - 1))
    return uuid.UUID(int=(high << 64) | low)


class JobQuerySet(models.QuerySet["Job"]):
    def with_ids(self, ids: Iterable[uuid.UUID]) -> Self:
        return self.filter(AnyOf(F("id"), ids))

    def living(self) -> Self:
        """Those that have not ended."""
        return self.exclude(status__in=ENDED)

    def ended(self) -> Self:
        return self.filter(status__in=ENDED)

    def processing(self) -> Self:
        return self.filter(status=Status.PROCESSING)

    def held(self, job: "Job") -> Self:
        """This job, if the claim in this copy still holds it.

        The worker's name too: a failover that lost commits can issue an epoch twice.
        """
        return self.processing().filter(id=job.id, epoch=job.epoch, locked_by=job.locked_by)

    def due(self) -> Self:
        return self.filter(status=Status.QUEUED, run_after__lte=Now())

    def in_turn(self) -> Self:
        """As the index ..._claim is ordered, column for column."""
        return self.order_by("priority", "run_after", "created_at")

    def expired(self) -> Self:
        return self.processing().filter(lease_expires_at__lt=Now())

    def suspect(self) -> Self:
        """Jobs on their last chance: if one more worker is lost, they fail as poison."""
        return self.filter(interruptions__gte=MAX_INTERRUPTIONS - 1)

    def trusted(self) -> Self:
        return self.filter(interruptions__lt=MAX_INTERRUPTIONS - 1)

    def delete(self) -> tuple[int, dict[str, int]]:
        """Delete ended jobs; raises NotEnded if one has not ended."""
        with transaction.atomic(using=self.db):
            # Locked: if an app listens to delete signals, Django reads first and deletes later.
            rows = self.order_by("id").select_for_update().values_list("id", "status")
            for id, status in rows:
                if status not in ENDED:
                    job = f"{self.model._meta.label} {id}"
                    raise NotEnded(f"{job} is {status}: cancel it before deleting it.")
            return super(JobQuerySet, self.ended()).delete()  # and none inserted meanwhile

    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]


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
    locked_at = models.DateTimeField(_("held since"), null=True, blank=True)
    locked_by = models.TextField(_("held by"), null=True, blank=True)  # noqa: DJ001 (NULL: none)
    lease_expires_at = models.DateTimeField(_("held until"), null=True, blank=True)
    last_error = models.TextField(_("last error"), null=True, blank=True)  # noqa: DJ001
    error_kind = models.TextField(_("kind of error"), null=True, blank=True)  # noqa: DJ001
    progress = models.JSONField(_("progress"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), db_default=Now())
    updated_at = models.DateTimeField(_("changed"), db_default=Now())
    finished_at = models.DateTimeField(_("ended"), null=True, blank=True)

    # Settings of the model, not of the row: override them in a subclass.
    timeout: ClassVar[timedelta] = timedelta(minutes=1)
    backoff_base: ClassVar[timedelta] = timedelta(seconds=5)
    backoff_cap: ClassVar[timedelta] = timedelta(minutes=10)
    patience: ClassVar[timedelta] = timedelta(hours=24)  # with an unavailable provider
    steps: ClassVar[Mapping[str, Any]] = {}  # names of its steps for people, in their order
    causes: ClassVar[Mapping[str, Any]] = {}  # words for its own kinds of errors

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
        ]
        constraints: ClassVar = [
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

    def __str__(self) -> str:
        return f"{self._meta.label} {self.pk}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert a new job, or update the model's own columns: `jobs.queue` writes the others.

        Saving all columns of an old copy would undo the moves made since it was read.
        """
        if not self._state.adding and kwargs.get("update_fields") is None:
            base = {field.name for field in Job._meta.fields}
            kwargs["update_fields"] = [f.name for f in self._meta.fields if f.name not in base]
        super().save(*args, **kwargs)

    @classmethod
    def provider_name(cls) -> str | None:
        """The provider whose limits apply, e.g. "gemini:some-model"; None: no limits."""
        return None

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


def job_models() -> list[type[Job]]:
    """Every installed kind of job."""
    return [model for model in apps.get_models() if issubclass(model, Job)]


def used_providers() -> set[str]:
    """The providers that the installed kinds of job name now."""
    return {name for model in job_models() if (name := model.provider_name())}
