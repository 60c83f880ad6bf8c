"""How a worker stops: why, until when it waits, and with which exit code."""

import math
import time


class Stopping:
    """Asked once: finish what runs. Asked twice: give it back now."""

    def __init__(self, grace: float) -> None:
        self.grace = grace
        self.requests = 0
        self.stop_at = math.inf  # monotonic; when what runs has had its time
        self.exit_code = 0

    def __bool__(self) -> bool:
        return self.requests > 0

    @property
    def is_urgent(self) -> bool:
        return self.requests > 1

    def ask(self) -> None:
        self.requests += 1

    def begin(self) -> None:
        """Start the time that what runs is given; an urgent request ends it."""
        if self.stop_at == math.inf:
            self.stop_at = time.monotonic() + self.grace
        if self.is_urgent:
            self.stop_at = min(self.stop_at, time.monotonic())

    @property
    def is_time_up(self) -> bool:
        return time.monotonic() >= self.stop_at
