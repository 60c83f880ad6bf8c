"""The names of the Tasks API: Django's own since 6.0, those of the package django-tasks before."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

__all__ = [
    "BaseTaskBackend",
    "InvalidTask",
    "Task",
    "TaskContext",
    "TaskError",
    "TaskResult",
    "TaskResultDoesNotExist",
    "TaskResultStatus",
    "is_installed",
    "normalize_json",
    "signals",
    "task_backends",
]

IS_DJANGOS = find_spec("django.tasks") is not None
is_installed = IS_DJANGOS or find_spec("django_tasks") is not None

if TYPE_CHECKING:  # the older one: it has types
    from django_tasks import TaskContext, TaskResultStatus, signals, task_backends
    from django_tasks.backends.base import BaseTaskBackend
    from django_tasks.base import Task as GenericTask
    from django_tasks.base import TaskError
    from django_tasks.base import TaskResult as GenericResult
    from django_tasks.exceptions import InvalidTaskError as InvalidTask
    from django_tasks.exceptions import TaskResultDoesNotExist
    from django_tasks.utils import normalize_json

    Task = GenericTask[Any, Any]
    TaskResult = GenericResult[Any]
elif IS_DJANGOS:
    from django.tasks import TaskContext, TaskResult, TaskResultStatus, signals, task_backends
    from django.tasks.backends.base import BaseTaskBackend
    from django.tasks.base import Task, TaskError
    from django.tasks.exceptions import InvalidTask, TaskResultDoesNotExist
    from django.utils.json import normalize_json
elif is_installed:
    from django_tasks import TaskContext, TaskResult, TaskResultStatus, signals, task_backends
    from django_tasks.backends.base import BaseTaskBackend
    from django_tasks.base import Task, TaskError
    from django_tasks.exceptions import InvalidTaskError as InvalidTask
    from django_tasks.exceptions import TaskResultDoesNotExist
    from django_tasks.utils import normalize_json
