"""Every move of a job: `from jobs import queue; queue.enqueue(...)`."""

from jobs.queue.asked import FIRST_IN_LINE, cancel, requeue
from jobs.queue.claims import claim
from jobs.queue.conflicts import repeated
from jobs.queue.moves import CHUNK, MOVES, beat, enqueue, rescue, settle

__all__ = [
    "CHUNK",
    "FIRST_IN_LINE",
    "MOVES",
    "beat",
    "cancel",
    "claim",
    "enqueue",
    "repeated",
    "requeue",
    "rescue",
    "settle",
]
