"""How noisy the machine was: figures of a busy machine mean little, and only beside each other."""

import os
import time
from collections.abc import Callable
from statistics import median

WORK = 300_000  # additions: some 10 ms


def spin() -> None:
    sum(range(WORK))


class Noise:
    """The same piece of work, done before every measurement: a busy machine takes longer."""

    def __init__(self, work: Callable[[], None] = spin) -> None:
        self.work = work
        self.seconds: list[float] = []

    def probe(self) -> None:
        for _ in range(5):
            started = time.perf_counter()
            self.work()
            self.seconds.append(time.perf_counter() - started)

    def __str__(self) -> str:
        if not self.seconds:
            return "The machine's noise was not measured."
        best, usual, worst = min(self.seconds), median(self.seconds), max(self.seconds)
        return (
            f"Noise: the same work took {usual / best:.2f} times its best at the median,"
            f" {worst / best:.1f} times at worst; load {os.getloadavg()[1]:.1f} on"
            f" {os.cpu_count()} cores. Compare figures of one run only."
        )
