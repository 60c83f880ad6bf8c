"""Repeating a write that a deadlock with the queue rolled back.

A worker locks a job, then the rows that its hooks touch. A form that saves many rows locks them
in another order. So the two can deadlock, and the database rolls one of them back.
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
    """Repeat a write if a conflict rolled it back; the write opens its own transaction."""

    @wraps(write)
    def write_again(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        if connection.in_atomic_block:  # the outer transaction fails too: only its owner can repeat
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
