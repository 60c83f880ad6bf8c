"""What the jobs of the benchmark do, the same in every queue."""

import os
import time
from pathlib import Path

NAP = 0.1  # seconds


def noop(sent_at: float) -> None:
    """Do nothing, so that only the queue is measured."""


def nap(sent_at: float) -> None:
    """Wait, as a call to a slow service does."""
    time.sleep(NAP)


def stamp(sent_at: float) -> None:
    """Note when the job that was sent at that moment started."""
    started_at = time.time()
    with Path(os.environ["BENCH_STAMPS"]).open("a") as stamps:
        stamps.write(f"{sent_at} {started_at}\n")


def note(sent_at: float) -> None:
    """Append a line to a file: the least that a job does which does something."""
    with Path(os.environ["BENCH_STAMPS"]).open("a") as notes:
        notes.write("a note of 24 characters\n")


TASKS = {task.__name__: task for task in (noop, nap, stamp, note)}
