"""Every move of a job: `from jobs import queue; queue.enqueue(...)`."""

from jobs.queue.arrivals import enqueue
from jobs.queue.asked import FIRST_IN_LINE, cancel, requeue
from jobs.queue.claims import claim
from jobs.queue.conflicts import repeated
from jobs.queue.moves import CHUNK, MOVES, beat
from jobs.queue.rescheduling import reschedule
from jobs.queue.settling import rescue, settle

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
    "reschedule",
    "rescue",
    "settle",
]
