"""How much freed memory a worker's threads keep."""

import ctypes
from contextlib import suppress

M_ARENA_MAX = -8  # of malloc.h
ARENAS = 2


def share_arenas() -> None:
    """Let all threads share two arenas of glibc's malloc; called before there are threads.

    glibc gives each thread an arena of its own, up to eight per core, and each keeps tens of
    megabytes that its thread has freed: a worker's memory would grow with its slots.
    """
    with suppress(AttributeError, OSError, TypeError):  # other C libraries have no arenas
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)
