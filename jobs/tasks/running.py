"""Calling the function of a task, and telling Django's signals what became of it."""

import copy
import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import Error, transaction
from django.utils import timezone

from jobs.db import json_values, sessions, text
from jobs.errors import ProviderUnavailable, TaskMissing
from jobs.paid import breaker
from jobs.tasks import declared, results
from jobs.tasks.api import (
    TaskContext,
    TaskResult,
    TaskResultStatus,
    normalize_json,
    signals,
    task_backends,
)

if TYPE_CHECKING:
    from jobs.tasks.models import TaskJob


def perform(job: "TaskJob") -> Any:
    """Call the function; returns what it returned, as JSON that can be stored."""
    job.result = result = results.of(job)
    if result.started_at is None:  # the claim does not tell us; its row has the exact moment
        object.__setattr__(result, "started_at", timezone.now())
    object.__setattr__(result, "last_attempted_at", timezone.now())
    sessions.give_back()  # the function may be slow
    signals.task_started.send(sender(result), task_result=result)
    context = [TaskContext(task_result=result)] if result.task.takes_context else []
    with noting_faults(job.provider):
        return storable(result.task.call(*context, *result.args, **result.kwargs))


@contextmanager
def noting_faults(provider: str | None) -> Iterator[None]:
    """Pause the provider of a task that says that it is unavailable, for everybody."""
    try:
        yield
    except ProviderUnavailable as error:
        if provider:
            breaker.let_wait(error, breaker.note_fault(provider, error))
        raise
    if provider:
        with suppress(Error):  # the function has been paid for: what it returned must not be lost
            breaker.note_answer(provider)


def storable(value: Any) -> Any:
    """What a function returned; raises TypeError or ValueError if it can't be stored."""
    value = normalize_json(value)
    for path, fault in json_values.faults(value, ("return_value",)):
        raise ValueError(f"{json_values.path_of(path).removeprefix('.')} {fault}.")
    return value


def word(job: "TaskJob", name: str) -> Any:
    """The value of one of our words for this job's task; None: it has none."""
    with suppress(TaskMissing):
        return getattr(declared.find(job.task_path), name, None)
    return None


def choose_wait(job: "TaskJob", error: BaseException) -> float | None:
    """Seconds until the next attempt, as the task's `backoff` says."""
    backoff = word(job, "backoff")
    if backoff is None or job.result is None:
        return None
    wait: float | timedelta | None = backoff(error, _with(job.result, error))
    if wait is None:
        return math.inf
    return wait.total_seconds() if isinstance(wait, timedelta) else wait


# Signals


def announce_end(job: "TaskJob", value: Any = None, error: BaseException | None = None) -> None:
    """Send task_finished when the transaction that ends the job is committed."""
    with suppress(TaskMissing):
        result = copy.copy(job.result or results.of(job))
        status = TaskResultStatus.FAILED if error else TaskResultStatus.SUCCESSFUL
        object.__setattr__(result, "status", status)
        object.__setattr__(result, "finished_at", timezone.now())
        object.__setattr__(result, "_return_value", value)

        def tell() -> None:
            if error is None:
                send_finished(result)
                return
            try:
                raise error
            except BaseException:  # receivers look at the exception that is being handled
                send_finished(_with(result, error))

        transaction.on_commit(tell, robust=True)


def send_finished(result: "TaskResult") -> None:
    """What a receiver raises is logged: the task has ended in any case."""
    signals.task_finished.send_robust(sender(result), task_result=result)


def sender(result: "TaskResult") -> type:
    return type(task_backends[result.backend])


def _with(result: "TaskResult", error: BaseException) -> "TaskResult":
    """A copy with the error that is being recorded."""
    last = results.error_of(text.class_path(error), text.full_traceback(error))
    result = copy.copy(result)
    object.__setattr__(result, "errors", [*result.errors, last])
    return result
