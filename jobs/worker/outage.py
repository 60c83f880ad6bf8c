"""A database outage: the worker tries again after growing waits, and logs it once."""

import logging
import math
import random
import time

log = logging.getLogger(__name__)

LONGEST_WAIT = 2.0  # seconds; so work goes on within 5 s, even if a dead host is asked first


class Outage:
    """Logs once that the database can't be used, and once that it is back."""

    def __init__(self) -> None:
        self.since: float | None = None
        self.over_at = -math.inf
        self.faults = 0

    def note(self, error: Exception) -> float:
        """Count a fault; returns the moment (monotonic) of the next try."""
        now = time.monotonic()
        if self.since is None:
            self.since = now
        self.faults += 1
        if self.faults == 2:  # a single fault may be a stale connection
            log.warning("The database can't be used; trying again until it can: %s", error)
        # The first retry comes at once, later ones after growing, jittered waits.
        wait = 0.0 if self.faults == 1 else min(LONGEST_WAIT, 0.05 * 2.0**self.faults)
        return now + wait * random.uniform(0.5, 1)

    def over(self) -> None:
        if self.since is not None and self.faults > 1:
            log.warning("The database is back after %.0f s.", time.monotonic() - self.since)
        if self.since is not None:
            self.over_at = time.monotonic()
        self.since, self.faults = None, 0
