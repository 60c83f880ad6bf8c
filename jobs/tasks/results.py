"""What a row says, in the words of the Tasks API."""

from dataclasses import fields
from typing import TYPE_CHECKING

from jobs.archive import reading
from jobs.errors import Cancel
from jobs.models import Attempt, Outcome, Status
from jobs.tasks import declared
from jobs.tasks.api import Task, TaskError, TaskResult, TaskResultStatus

if TYPE_CHECKING:
    from jobs.tasks.models import TaskJob

STATUSES = {
    Status.QUEUED: TaskResultStatus.READY,  # between two attempts too
    Status.PROCESSING: TaskResultStatus.RUNNING,
    Status.SUCCEEDED: TaskResultStatus.SUCCESSFUL,
    Status.FAILED: TaskResultStatus.FAILED,
    Status.CANCELED: TaskResultStatus.FAILED,
}
# A claim that ended with one of these was no fault of anybody.
HARMLESS = (Outcome.SUCCEEDED, Outcome.RELEASED, Outcome.SNOOZED)
CANCELED = f"{Cancel.__module__}.{Cancel.__qualname__}"


def of(job: "TaskJob", task: Task | None = None) -> TaskResult:
    """The result of a task; raises TaskMissing if the code does not declare it."""
    history = _history(job)
    starts = [attempt.started_at for attempt in history]
    starts += [job.locked_at] if job.locked_at else []
    result: TaskResult = TaskResult(
        task=task or _task(job),
        id=str(job.pk),
        status=STATUSES[Status(job.status)],
        enqueued_at=job.created_at,
        started_at=starts[0] if starts else None,
        last_attempted_at=starts[-1] if starts else None,
        finished_at=job.finished_at,
        args=job.args,
        kwargs=job.kwargs,
        backend=job.backend_name,
        errors=_errors(job, history),
        worker_ids=_workers(job, history),
    )
    object.__setattr__(result, "_return_value", job.return_value)
    return result


def _history(job: "TaskJob") -> list[Attempt]:
    """Every claim that has ended, the first one first; older ones may be in the archive."""
    if job.epoch <= (job.status == Status.PROCESSING):
        return []  # it was never claimed before
    archived = reading.history(job).attempts if job.log_ref else []
    ended = Attempt.objects.filter(job_id=job.pk).order_by("epoch")
    if job.status == Status.PROCESSING:  # a hook asks after the end of this claim was recorded
        ended = ended.filter(epoch__lt=job.epoch)
    return [*archived[::-1], *ended]


def _errors(job: "TaskJob", history: list[Attempt]) -> list[TaskError]:
    errors = [
        error_of(attempt.error_class or "builtins.Exception", attempt.traceback or attempt.error)
        for attempt in history
        if attempt.outcome not in HARMLESS
    ]
    if job.status == Status.CANCELED and not (history and history[-1].outcome == Outcome.CANCELED):
        errors.append(error_of(CANCELED, job.last_error))  # while no worker held it
    return errors


def error_of(class_path: str, traceback: str | None) -> TaskError:
    return TaskError(exception_class_path=class_path, traceback=traceback or "")


def _workers(job: "TaskJob", history: list[Attempt]) -> list[str]:
    """One per claim; so the number of attempts counts claims too."""
    return [attempt.worker for attempt in history] + ([job.locked_by] if job.locked_by else [])


def _task(job: "TaskJob") -> Task:
    """The declared task, as it was enqueued. Not validated: the settings may have changed since."""
    enqueued = {
        # A person may have let it go first, beyond what the API knows.
        "priority": max(-100, min(-job.priority, 100)),
        "queue_name": job.queue_name,
        "backend": job.backend_name,
        # Both are the moment of the insert, if no other one was asked for.
        "run_after": job.run_after if job.run_after != job.created_at else None,
    }
    task = declared.find(job.task_path)
    made = object.__new__(type(task))
    for field in fields(task):
        value = enqueued.get(field.name, getattr(task, field.name))
        object.__setattr__(made, field.name, value)
    return made
