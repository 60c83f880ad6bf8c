"""Calling a job's hooks, inside the transaction of the move they belong to."""

from typing import Any

from jobs.db import faults
from jobs.models import Job


class HookRaised(Exception):
    """Rolls the transaction back; the job whose hook raised is then treated by itself."""

    def __init__(self, hook: str, error: BaseException) -> None:
        super().__init__(f"{hook} raised {error!r}")
        self.hook = hook
        self.error = error


class SwallowedError(Exception):
    """A hook caught a database error without a savepoint: nothing more can be committed."""


def call(job: Job, hook: str, *arguments: Any) -> None:
    if getattr(type(job), hook) is getattr(Job, hook):
        return
    try:
        getattr(job, hook)(*arguments)
    except (Exception, SystemExit) as error:
        if faults.is_passing(error):
            raise
        raise HookRaised(hook, error) from error
    if faults.is_spoiled():
        # Else the commit would roll back silently, and all would look well.
        raise HookRaised(hook, SwallowedError(f"{hook} caught a database error: use atomic()."))
