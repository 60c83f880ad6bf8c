"""How a worker stops: why, until when it waits, and with which exit code."""

import math
import time


class Stopping:
    """One signal: finish what runs. Two signals: give it back now.

    Only signals count as signals. A person who asked in the console, or threads that hang,
    are a reason to stop, but no reason to hurry.
    """

    def __init__(self, grace: float) -> None:
        self.grace = grace
        self.signals = 0
        self.has_reason = False  # other than a signal
        self.stop_at = math.inf  # monotonic; when what runs has had its time
        self.exit_code = 0

    def __bool__(self) -> bool:
        return self.has_reason or self.signals > 0

    @property
    def is_urgent(self) -> bool:
        return self.signals > 1

    @property
    def is_time_up(self) -> bool:
        return time.monotonic() >= self.stop_at

    def begin(self) -> None:
        """Start the time that what runs is given; an urgent request ends it."""
        if self.stop_at == math.inf:
            self.stop_at = time.monotonic() + self.grace
        if self.is_urgent:
            self.stop_at = min(self.stop_at, time.monotonic())
