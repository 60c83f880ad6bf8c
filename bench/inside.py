"""What runs inside a queue's own environment: python -m bench.inside QUEUE OPERATION [NUMBER].

Imports only the standard library: these environments have nothing else in common.
An operation prints its result as JSON, on the last line.
"""

import importlib
import json
import os
import random
import sys
import threading
import time
from types import ModuleType
from typing import Any

FACTS = ["TABLES", "OPEN_JOBS", "DONE_JOBS", "WAKE", "SLOTS"]


def describe(queue: ModuleType, _: int) -> dict[str, Any]:
    """Describe the queue's tables to the race, and which optional figures it can measure."""
    more = ["plain_insert", "enqueue_made", "deepen", "look"]
    return {fact: getattr(queue, fact) for fact in FACTS} | {
        "more": [operation for operation in more if hasattr(queue, operation)]
    }


def setup(queue: ModuleType, _: int) -> None:
    queue.setup()


def enqueue_one(queue: ModuleType, count: int) -> float:
    """Enqueue one by one; returns jobs a second."""
    return rate(lambda: [queue.enqueue_one("noop", 0.0) for _ in range(count)], count)


def plain_insert(queue: ModuleType, count: int) -> float:
    """Insert the same row through the ORM alone; returns rows a second."""
    return rate(lambda: [queue.plain_insert() for _ in range(count)], count)


def enqueue_noops(queue: ModuleType, count: int) -> float:
    """Enqueue all at once; returns jobs a second."""
    return rate(lambda: queue.enqueue_many("noop", count), count)


def enqueue_made(queue: ModuleType, count: int) -> float:
    """Enqueue prepared jobs all at once; returns jobs a second."""
    jobs = queue.make("noop", count)
    return rate(lambda: queue.enqueue_made(jobs), count)


def enqueue_naps(queue: ModuleType, count: int) -> float:
    return rate(lambda: queue.enqueue_many("nap", count), count)


def enqueue_notes(queue: ModuleType, count: int) -> float:
    return rate(lambda: queue.enqueue_many("note", count), count)


def send_stamps(queue: ModuleType, count: int) -> dict[float, float]:
    """Send jobs that note when they start, far enough apart to find the worker idle.

    Returns the moment before each enqueue and the moment after it.
    """
    moments = {}
    for _ in range(count):
        time.sleep(random.uniform(0.03, 0.06))
        sent_at = time.time()
        queue.enqueue_one("stamp", sent_at)
        moments[sent_at] = time.time()
    return moments


def deepen(queue: ModuleType, count: int) -> None:
    """Queue `count` jobs for much later, beside half as many that are finished."""
    queue.deepen(later=count, finished=count // 2)


def look(queue: ModuleType, count: int) -> list[float]:
    """Look for due jobs when there are none; returns the seconds of each look."""
    return [1 / rate(queue.look, 1) for _ in range(count)]


def work(queue: ModuleType, slots: int) -> None:
    """Run jobs until stopped: up to `slots` at once; with 0, in the queue's fastest way."""
    threading.Thread(target=end_with_the_race, daemon=True).start()
    queue.work(slots)


OPERATIONS = {
    operation.__name__: operation
    for operation in (
        *(describe, setup, enqueue_one, plain_insert, enqueue_noops, enqueue_made),
        *(enqueue_naps, enqueue_notes, send_stamps, deepen, look, work),
    )
}


def rate(action: Any, count: int) -> float:
    started = time.perf_counter()
    action()
    return count / (time.perf_counter() - started)


def end_with_the_race() -> None:
    """End when the race ends, even if it is killed: then our standard input closes."""
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


if __name__ == "__main__":
    name, operation, number = [*sys.argv[1:], "0"][:3]
    queue = importlib.import_module(f"bench.queues.{name}")
    print(json.dumps(OPERATIONS[operation](queue, int(number))))
