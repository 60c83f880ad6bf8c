"""Calling a job's hooks, inside the transaction of the move they belong to."""

import signal
from typing import Any

from django.db import Error, connection

from jobs.db import faults, text
from jobs.models import Job


class HookRaised(Exception):
    """Rolls the transaction back; the job whose hook raised is then treated by itself."""

    def __init__(self, hook: str, error: BaseException) -> None:
        super().__init__(f"{hook} raised {text.message(error)}")
        self.hook = hook
        self.error = error


class HookWaited(HookRaised):
    """A hook met a row that others keep locked: the job is moved later, the others go on."""


class SwallowedError(Exception):
    """A hook caught a database error without a savepoint: nothing more can be committed."""


def call(job: Job, hook: str, *arguments: Any) -> None:
    if getattr(type(job), hook) is getattr(Job, hook):
        return
    try:
        getattr(job, hook)(*arguments)
    except BaseException as error:
        if faults.is_conflict(error):
            raise HookWaited(hook, error) from error
        if faults.is_passing(error) or _is_ctrl_c(error):
            raise
        raise HookRaised(hook, error) from error
    if faults.is_spoiled():
        # Else the commit would roll back silently, and all would look well.
        raise HookRaised(hook, SwallowedError(f"{hook} caught a database error: use atomic()."))


def _is_ctrl_c(error: BaseException) -> bool:
    """Whether a person interrupts the program: a worker turns signals into requests to stop."""
    is_possible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return isinstance(error, KeyboardInterrupt) and is_possible


def check_constraints() -> None:
    """Let deferred constraints speak while it is known whose hooks broke them.

    At the end of a transaction of our own, COMMIT does that.
    """
    if connection.vendor == "postgresql" and connection.in_atomic_block:
        try:
            connection.check_constraints()
        except Error as error:
            if faults.is_passing(error):
                raise
            raise HookRaised("a deferred constraint", error) from error
