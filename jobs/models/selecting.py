"""The words that select jobs: due, living, expired, held and so on."""

import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from django.db import models, transaction
from django.db.models import Exists, F, Q
from django.db.models.functions import Now
from django.db.models.lookups import In

from jobs import tracing
from jobs.db.lookups import AnyOf, BeginsWith, Blank, Unindexed
from jobs.errors import NotEnded
from jobs.models.pause import Pause
from jobs.models.status import ENDED, OPEN, Status

if TYPE_CHECKING:
    from jobs.models.job import Job

MAX_INTERRUPTIONS = 3


def in_trace(trace_id: str) -> Q:
    """The jobs of this trace, and the job that it began with, as the index ..._trace finds them."""
    return Q(id=uuid.UUID(trace_id)) | Q(BeginsWith(F("trace"), f"00-{trace_id}-"))


class JobQuerySet(models.QuerySet["Job"]):
    def with_ids(self, ids: Iterable[uuid.UUID] | models.Expression | Blank) -> Self:
        return self.filter(AnyOf(F("id"), ids))

    def still(self, *statuses: Status) -> Self:
        """Those found by their ids that have one of these statuses.

        By the statistics, few rows are queued or processing, so the planner prefers an index on
        status to the ids. While an old snapshot is open, that index is full of dead entries.
        """
        return self.filter(In(Unindexed(F("status")), list(statuses)))

    def living(self) -> Self:
        """Those that have not ended."""
        return self.exclude(status__in=ENDED)

    def runs_of(self, schedule: str) -> Self:
        """Runs of this schedule that have not ended, as the index ..._open_run finds them."""
        return self.filter(schedule_name=schedule, status__in=OPEN)

    def ended(self) -> Self:
        return self.filter(status__in=ENDED)

    def processing(self) -> Self:
        return self.filter(status=Status.PROCESSING)

    def held(self, job: "Job") -> Self:
        """This job, if the claim in this copy still holds it.

        The worker's name too: a failover that lost commits can issue an epoch twice.
        """
        claim = {"id": job.id, "epoch": job.epoch, "locked_by": job.locked_by}
        return self.still(Status.PROCESSING).filter(**claim)

    def due(self) -> Self:
        """Those that a worker may take now: none while a person has paused their kind."""
        open_kind = ~Exists(Pause.objects.of(self.model._meta.label))
        return self.filter(open_kind).ripe()

    def ripe(self) -> Self:
        """Those whose time has come, whether or not their kind is paused."""
        return self.filter(status=Status.QUEUED, run_after__lte=Now())

    def in_turn(self) -> Self:
        """As the index ..._claim is ordered, column for column."""
        return self.order_by("priority", "run_after", "created_at")

    def lanes(self) -> list[tuple[str | None, Self]]:
        """These jobs by their provider, sorted by its name: most models have one for all jobs."""
        return [(self.model.provider_name(), self)]

    def of_provider(self, name: str) -> Self:
        """Those that run under this provider's limits."""
        return self if self.model.provider_name() == name else self.none()

    def expired(self) -> Self:
        return self.processing().filter(lease_expires_at__lt=Now())

    def suspect(self) -> Self:
        """Jobs on their last chance: if one more worker is lost, they fail as poison."""
        return self.filter(interruptions__gte=MAX_INTERRUPTIONS - 1)

    def trusted(self) -> Self:
        return self.filter(interruptions__lt=MAX_INTERRUPTIONS - 1)

    def bulk_create(self, objs: Iterable["Job"], *args: Any, **kwargs: Any) -> list["Job"]:
        """Insert new jobs; `queue.enqueue` wakes the workers, too."""
        jobs = list(objs)
        for job in jobs:
            tracing.note_origin(job)
        return super().bulk_create(jobs, *args, **kwargs)

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
