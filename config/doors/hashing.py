"""Checking a password takes a third of a second of a processor: only a few at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

SECONDS = 3.0
AT_ONCE = 1  # per process; other cores and threads stay free for pages
IN_LINE = 2  # with the one being checked; more would keep the threads of visitors' pages

_line = BoundedSemaphore(IN_LINE)
_line_of_known = BoundedSemaphore(IN_LINE)
_turn = BoundedSemaphore(AT_ONCE)


class Busy(Exception):
    """Too many passwords are being checked."""


@contextmanager
def turn(is_known: bool = False) -> Iterator[None]:
    """Wait briefly for a turn to check a password; raises Busy.

    Browsers that have logged in before have a line of their own, which strangers can't fill.
    """
    line = _line_of_known if is_known else _line
    if not line.acquire(blocking=False):
        raise Busy
    try:
        if not _turn.acquire(timeout=SECONDS):
            raise Busy
        try:
            yield
        finally:
            _turn.release()
    finally:
        line.release()
