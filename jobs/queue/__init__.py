"""Every move of a job, in the order of its life: `from jobs import queue; queue.enqueue(...)`."""

from jobs.queue.moves import (
    CHUNK,
    FIRST_IN_LINE,
    MOVES,
    Note,
    beat,
    cancel,
    claim,
    enqueue,
    requeue,
    rescue,
    settle,
)

__all__ = [
    "CHUNK",
    "FIRST_IN_LINE",
    "MOVES",
    "Note",
    "beat",
    "cancel",
    "claim",
    "enqueue",
    "requeue",
    "rescue",
    "settle",
]
