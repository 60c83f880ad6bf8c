"""The backend that `TASKS` names. It is built by the first `@task`, before there are models."""

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.tasks import api, declared
from jobs.tasks.api import BaseTaskBackend, TaskResult
from jobs.tasks.declared import Task


class Backend(BaseTaskBackend):
    """Tasks are rows of TaskJob, enqueued in the caller's transaction."""

    task_class = Task
    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def validate_task(self, task: api.Task) -> None:
        super().validate_task(task)
        if isinstance(task, Task):
            declared.check(task)

    def enqueue(self, task: api.Task, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TaskResult:
        """Insert its row; if it is unique and there is one like it, return that one's result."""
        from jobs.tasks import results, rows  # see above: they import models

        self.validate_task(task)
        job, is_new = rows.enqueue(task, args, kwargs)
        result = results.of(job, task if is_new else None)
        if is_new:
            api.signals.task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> TaskResult:
        from jobs.tasks import results, rows

        return results.of(rows.find(result_id))

    def check(self, **_: Any) -> list[Any]:
        from jobs.tasks import checks

        return checks.check_backend(self.alias)
