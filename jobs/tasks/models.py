"""A task of Django's Tasks API, kept as a job."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from django.db import models
from django.db.models import Min, Q
from django.utils.functional import classproperty
from django.utils.translation import gettext_lazy as _

from jobs.errors import Cancel, TaskMissing
from jobs.models import Job, JobQuerySet, Status
from jobs.run import Run
from jobs.tasks import api

if TYPE_CHECKING:
    from jobs.tasks.api import TaskResult

if api.is_installed:
    from jobs.tasks import declared, running, timetable


class TaskJobQuerySet(JobQuerySet):
    def lanes(self) -> list[tuple[str | None, Self]]:
        """One lane per provider that a queued task names, in the order of their names."""
        lanes: list[tuple[str | None, Self]] = [(None, self.filter(provider=None))]
        queued = TaskJob.objects.filter(status=Status.QUEUED)
        name = queued.aggregate(first=Min("provider"))["first"]
        while name is not None:
            lanes.append((name, self.of_provider(name)))
            name = queued.filter(provider__gt=name).aggregate(next=Min("provider"))["next"]
        return lanes

    def of_provider(self, name: str) -> Self:
        return self.filter(provider=name)


class TaskJob(Job):
    """Calls one function with the arguments that it was enqueued with."""

    task_path = models.TextField(_("task"), help_text=_("module and name of the function"))
    args = models.JSONField(_("arguments"), default=list, db_default=[], blank=True)
    kwargs = models.JSONField(_("named arguments"), default=dict, db_default={}, blank=True)
    queue_name = models.TextField(_("queue"), default="default", db_default="default")
    backend_name = models.TextField(_("backend"), default="default", db_default="default")
    provider = models.TextField(  # noqa: DJ001 (NULL: no limits)
        _("provider"), null=True, blank=True
    )
    return_value = models.JSONField(_("return value"), null=True, blank=True)
    max_attempts = models.IntegerField(_("most attempts"), default=1, db_default=1)

    takes_at_claim = True  # what its function sends is unknown here: count it as one call
    result: "TaskResult | None" = None  # while it runs

    objects = TaskJobQuerySet.as_manager()  # type: ignore[misc]

    class Meta(Job.Meta):
        db_table = "task_jobs"
        indexes = [
            *Job.Meta.indexes,
            # The claim of one lane, column for column.
            models.Index(
                fields=["provider", "priority", "run_after", "created_at"],
                name="taskjob_lane",
                condition=Q(status="queued"),
            ),
        ]
        verbose_name = _("task")
        verbose_name_plural = _("tasks")

    def __str__(self) -> str:
        return self.task_path

    @classproperty
    def schedule(cls) -> list[Any]:
        """What the tasks declare."""
        return list(timetable.schedules()) if api.is_installed else []

    @classmethod
    def for_schedule(  # type: ignore[override]
        cls, scheduled_for: datetime, task: str, kwargs: dict[str, Any]
    ) -> "TaskJob":
        from jobs.tasks import rows  # not at the top: it makes rows of this model

        return rows.make(declared.find(task), (), kwargs)

    @classmethod
    def provider_names(cls) -> set[str]:
        return declared.providers() if api.is_installed else set()

    @property
    def limited_by(self) -> str | None:
        return self.provider

    @classmethod
    def longest_timeout(cls) -> timedelta:
        return declared.longest_timeout(cls.timeout) if api.is_installed else cls.timeout

    @property
    def time_limit(self) -> timedelta:
        return (api.is_installed and running.word(self, "timeout")) or self.timeout

    def choose_wait(self, error: BaseException) -> float | None:
        return running.choose_wait(self, error) if api.is_installed else None

    def perform(self, run: Run) -> Any:
        if not api.is_installed:
            raise TaskMissing("Django's Tasks API is not installed here: pip install django-tasks.")
        return running.perform(self)

    # A value of None is not written: the column is empty until the first success.

    def on_success(self, value: Any) -> None:
        if value is not None:
            type(self).objects.filter(pk=self.pk).update(return_value=value)
        self.announce_end(value=value)

    def on_failure(self, error: BaseException) -> None:
        self.announce_end(error=error)

    def on_cancel(self) -> None:
        self.announce_end(error=Cancel("It was canceled."))

    def on_requeue(self) -> None:
        type(self).objects.filter(pk=self.pk).update(return_value=None)

    def announce_end(self, **told: Any) -> None:
        if api.is_installed:
            running.announce_end(self, **told)
