"""How a worker stops: why, how long it waits, and with which exit code."""

import math
import signal
import time


class Stopping:
    """One signal: finish what runs. Two signals: release it now.

    Only signals count as signals. A request in the console, or hung threads, are a reason
    to stop, but no reason to hurry.
    """

    def __init__(self, grace: float) -> None:
        self.grace = grace
        self.signals = 0
        self.names: list[str] = []  # of the signals
        self.has_reason = False  # other than a signal
        self.stop_at = math.inf  # monotonic; the end of the grace period
        self.exit_code = 0

    def __bool__(self) -> bool:
        return self.has_reason or self.signals > 0

    def hear(self, number: int | None) -> None:
        """Count a signal. Called by its handler, so it only sets fields."""
        self.signals += 1
        if number is not None:
            self.names.append(signal.Signals(number).name)

    @property
    def by(self) -> str:
        """Which signals, in words for the log; empty when none came."""
        return f" by {', then '.join(self.names)}" if self.names else ""

    @property
    def is_urgent(self) -> bool:
        return self.signals > 1

    @property
    def is_time_up(self) -> bool:
        return time.monotonic() >= self.stop_at

    def begin(self) -> None:
        """Start the grace period of running jobs; a second signal ends it."""
        if self.stop_at == math.inf:
            self.stop_at = time.monotonic() + self.grace
        if self.is_urgent:
            self.stop_at = min(self.stop_at, time.monotonic())
