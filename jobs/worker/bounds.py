"""What ends a worker by itself: a time, and a number of jobs. Most workers have neither."""

import time


class Bounds:
    def __init__(self, seconds: float, jobs: float) -> None:
        self.ends_at = time.monotonic() + seconds
        self.jobs = jobs
        self.claimed = 0

    @property
    def time_left(self) -> float:
        return self.ends_at - time.monotonic()

    @property
    def is_time_up(self) -> bool:
        return self.time_left <= 0

    def share_of(self, wanted: int) -> int:
        """How many of these jobs may still be claimed."""
        return int(min(wanted, self.jobs - self.claimed))
