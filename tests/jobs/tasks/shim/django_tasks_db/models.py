"""The words of its model, said of our rows."""

from datetime import UTC, datetime

from jobs.models import Status
from jobs.tasks import results
from jobs.tasks.models import TaskJob, TaskJobQuerySet

TaskJob.task = property(results._task)
TaskJob.task_result = property(results.of)
TaskJob.worker_ids = property(lambda job: results.of(job).worker_ids)


class Rows(TaskJobQuerySet):
    def ready(self):
        return self.due()

    def successful(self):
        return self.filter(status=Status.SUCCEEDED)

    def failed(self):
        return self.filter(status__in=[Status.FAILED, Status.CANCELED])

    def create(self, *, args_kwargs, priority=0, enqueued_at, **columns):
        given = {**args_kwargs, "priority": -priority, "created_at": enqueued_at}
        return super().create(**given, **columns)


class DBTaskResult:
    objects = Rows(TaskJob).in_turn()
    _meta = TaskJob._meta


def get_date_max():
    return datetime(9999, 1, 1, tzinfo=UTC)
