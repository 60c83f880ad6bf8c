"""Repeating what met the queue in the wrong order.

A worker locks a job, then what its hooks touch. A form that saves many rows locks these in an
order of its own, so the two can deadlock, and the database ends one of them.
"""

import random
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import Error, connection

from jobs.db import faults

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

PAUSES = (0.05, 0.2, 0.5)  # seconds


def repeated(write: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Repeat a write that makes its own transaction if a conflict rolled it back."""

    @wraps(write)
    def write_again(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        if connection.in_atomic_block:  # the whole of it was rolled back: only its owner can
            return write(*arguments, **options)
        for pause in PAUSES:
            try:
                return write(*arguments, **options)
            except Error as error:
                if not faults.is_conflict(error):
                    raise
            time.sleep(pause * random.uniform(0.5, 1))
        return write(*arguments, **options)

    return write_again
