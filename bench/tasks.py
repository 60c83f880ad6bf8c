"""What the jobs of the benchmark do, whichever queue runs them."""

import os
import time
from pathlib import Path

NAP = 0.1  # seconds


def noop(sent_at: float) -> None:
    """Do nothing: what is measured is the queue itself."""


def nap(sent_at: float) -> None:
    """Wait, as a call to a slow service does."""
    time.sleep(NAP)


def stamp(sent_at: float) -> None:
    """Note when the job of that moment started."""
    started_at = time.time()
    with Path(os.environ["BENCH_STAMPS"]).open("a") as stamps:
        stamps.write(f"{sent_at} {started_at}\n")


TASKS = {task.__name__: task for task in (noop, nap, stamp)}
