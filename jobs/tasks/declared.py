"""Tasks as the code declares them, with the words that Django has no name for yet.

No module with models is imported here: `@task` may stand in a module that is imported earlier.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal

from django.apps import apps

from jobs.errors import TaskMissing
from jobs.tasks import api
from jobs.tasks.api import InvalidTask

# Gets the exception and the result so far; returns seconds, or None for no further attempt.
Backoff = Callable[[BaseException, "api.TaskResult"], float | timedelta | None]
UNIQUE = (False, True, "open", "queued")

_known: dict[str, "Task"] = {}  # as declared, by the path of the function


@dataclass(frozen=True, kw_only=True)
class Task(api.Task):
    """A task of Django, and what the queue can do for it."""

    max_attempts: int = 1  # Django's tasks run once
    backoff: Backoff | None = None  # None: exponential, with full jitter
    timeout: timedelta | None = None  # None: that of TaskJob
    provider: str | None = None  # whose limits it runs under
    # Whether it is skipped while the same task with the same arguments is open, or only queued.
    unique: bool | Literal["open", "queued"] = False
    # As that of a job: Daily("06:00"), a cron expression, or a list of them, which has no hash.
    schedule: Any = field(default=None, hash=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        _known.setdefault(self.module_path, self)  # using() makes others later


def task(function: Callable[..., Any] | None = None, **words: Any) -> Any:
    """Django's decorator with the words of our tasks: that of Django 6.0 refuses them."""

    def declare(function: Callable[..., Any]) -> api.Task:
        backend = words.get("backend", "default")
        task_class = api.task_backends[backend].task_class
        plain = {"priority": 0, "queue_name": "default", "backend": backend, "run_after": None}
        return task_class(func=function, **{**plain, **words})

    return declare(function) if function else declare


def check(task: Task) -> None:
    """Raise InvalidTask if a word has a value that it can't have."""
    if not isinstance(task.max_attempts, int) or not 1 <= task.max_attempts <= 1_000:
        raise InvalidTask(f"max_attempts={task.max_attempts!r}: it must be 1 to 1000.")
    if task.backoff is not None and not callable(task.backoff):
        raise InvalidTask(f"backoff={task.backoff!r}: it must be a function.")
    is_time = isinstance(task.timeout, timedelta) and task.timeout > timedelta(0)
    if task.timeout is not None and not is_time:
        raise InvalidTask(f"timeout={task.timeout!r}: it must be a timedelta above 0.")
    if task.provider is not None and not (isinstance(task.provider, str) and task.provider):
        raise InvalidTask(f"provider={task.provider!r}: it must be the name of a provider.")
    if task.unique not in UNIQUE:
        raise InvalidTask(f"unique={task.unique!r}: it must be one of {UNIQUE}.")


def find(path: str) -> api.Task:
    """The declared task of this path; raises TaskMissing.

    It must be in a module of an installed app that is imported already: nothing is ever imported
    because a row says so. The `tasks` module of every installed app is imported at the start.
    """
    module, _, name = path.rpartition(".")
    is_ours = apps.get_containing_app_config(path) is not None and module in sys.modules
    found = vars(sys.modules[module]).get(name) if is_ours else None
    if not isinstance(found, api.Task) or found.module_path != path:
        raise TaskMissing(
            f"This code declares no task {path!r:.300}. A task is a function with @task in a"
            " module of an installed app; the module `tasks` of every app is imported by itself."
        )
    return found


def longest_timeout(least: timedelta) -> timedelta:
    """The longest timeout of all tasks that are declared, and at least this one."""
    return max([least, *(task.timeout for task in _known.values() if task.timeout)])


def providers() -> set[str]:
    return {task.provider for task in _known.values() if task.provider}


def scheduled() -> list[tuple[str, Any]]:
    """The paths of tasks that declare a schedule, and what they declare."""
    found = sorted(_known.items())
    return [(path, task.schedule) for path, task in found if task.schedule is not None]
