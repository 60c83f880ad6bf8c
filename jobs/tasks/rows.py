"""From a task and its arguments to a row."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError

from jobs import queue
from jobs.db import json_values
from jobs.errors import TaskMissing
from jobs.models import OPEN
from jobs.tasks import declared
from jobs.tasks.api import InvalidTask, Task, TaskResultDoesNotExist, normalize_json
from jobs.tasks.models import TaskJob

TRIES = 3  # to insert a unique task while others like it end


def enqueue(task: Task, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[TaskJob, bool]:
    """A new row, or the open one that a unique task has already; and whether it is new."""
    refuse_hidden(task)
    for _ in range(TRIES):
        job = make(task, args, kwargs)
        if queue.enqueue([job]):
            return job, True
        alike = TaskJob.objects.filter(unique_key=job.unique_key, status__in=OPEN)
        if found := alike.first():
            return found, False  # type: ignore[return-value]
    raise RuntimeError(f"{task.module_path}: tasks with its arguments came and went meanwhile.")


def refuse_hidden(task: Task) -> None:
    """Raise InvalidTask if a worker could not find the function by its path."""
    try:
        found = declared.find(task.module_path)
    except TaskMissing as error:
        raise InvalidTask(str(error)) from None
    if found.func is not task.func:
        raise InvalidTask(f"{task.module_path} is the name of another task.")


def find(result_id: str) -> TaskJob:
    """The row of a result; raises TaskResultDoesNotExist."""
    try:
        return TaskJob.objects.get(pk=result_id)
    except (TaskJob.DoesNotExist, ValidationError):  # gone, or no id at all
        raise TaskResultDoesNotExist(f"There is no task {result_id!r:.100}.") from None


def make(task: Task, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TaskJob:
    """The row, not inserted yet; raises TypeError or ValueError for what can't be stored."""
    given = {"args": normalize_json(list(args)), "kwargs": normalize_json(dict(kwargs))}
    refuse_faults({**given, "queue_name": task.queue_name}, task.module_path)
    columns: dict[str, Any] = {"run_after": task.run_after} if task.run_after else {}
    if isinstance(task, declared.Task):
        columns |= {"max_attempts": task.max_attempts, "provider": task.provider}
        if task.unique:
            columns["unique_key"] = _key(task, given)
            columns["unique_while"] = "open" if task.unique is True else task.unique
    return TaskJob(
        task_path=task.module_path,
        queue_name=task.queue_name,
        backend_name=task.backend,
        priority=-task.priority,  # Django's higher ones come first, the queue's lower ones
        **given,
        **columns,
    )


def refuse_faults(value: dict[str, Any], whose: str) -> None:
    """Raise ValueError with the path of what can't be stored."""
    for path, fault in json_values.faults(value):
        raise ValueError(f"{whose}: {json_values.path_of(path).removeprefix('.')} {fault}.")


def _key(task: Task, given: dict[str, Any]) -> str:
    same = hashlib.sha256(json_values.canonical(given).encode()).hexdigest()
    return f"{task.module_path[-400:]} {same}"
