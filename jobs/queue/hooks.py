"""Calling a job's hooks, inside the transaction of their move."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, connection

from jobs import tracing
from jobs.db import faults, sessions, text
from jobs.models import Job


class HookRaised(Exception):
    """Rolls the transaction back; the job whose hook raised is then moved by itself."""

    def __init__(self, hook: str, error: BaseException) -> None:
        super().__init__(f"{hook} raised {text.message(error)}")
        self.hook = hook
        self.error = error


class HookWaited(HookRaised):
    """A hook met a locked row: its job is moved later, the other jobs go on."""


class SwallowedError(Exception):
    """A hook caught a database error without a savepoint: nothing more can be committed."""


def call(job: Job, hook: str, *arguments: Any) -> None:
    if getattr(type(job), hook) is getattr(Job, hook):
        return
    with _blaming(hook), tracing.on_behalf_of(job):
        getattr(job, hook)(*arguments)


def call_of_each(jobs: Sequence[Job], hook: str) -> None:
    """Call this hook of each job, or the hook of all of them where the model has one."""
    if len(jobs) > 1 and (together := getattr(type(jobs[0]), f"{hook}_all", None)):
        with _blaming(f"{hook}_all"):
            together(jobs)
        return
    for job in jobs:
        call(job, hook)


@contextmanager
def _blaming(hook: str) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if faults.is_conflict(error) or _is_elsewhere(error):
            raise HookWaited(hook, error) from error
        if faults.is_passing(error) or _is_ctrl_c(error):
            raise
        raise HookRaised(hook, error) from error
    if faults.is_spoiled():
        # Otherwise the commit would roll back without an error.
        raise HookRaised(hook, SwallowedError(f"{hook} caught a database error: use atomic()."))


def _is_elsewhere(error: BaseException) -> bool:
    """Whether another database than the queue's is away: our own transaction is sound."""
    return faults.is_passing(error) and not faults.is_lost() and not faults.is_spoiled()


def _is_ctrl_c(error: BaseException) -> bool:
    """Whether a person pressed Ctrl-C. Not in a worker, where a signal only asks it to stop."""
    is_possible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return isinstance(error, KeyboardInterrupt) and is_possible


@contextmanager
def transaction_of_hooks() -> Iterator[None]:
    """A short transaction in which hooks run; a deferred constraint they broke is their fault."""
    try:
        with sessions.short_transaction():
            yield
            check_constraints()
    except IntegrityError as error:
        raise HookRaised("a constraint", error) from error


def check_constraints() -> None:
    """Inside a caller's transaction, check deferred constraints now.

    At the caller's COMMIT it would no longer be known whose hook broke them.
    """
    if connection.vendor == "postgresql" and connection.savepoint_ids:
        connection.check_constraints()
