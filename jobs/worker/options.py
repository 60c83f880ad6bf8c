"""The options of a worker, chosen by its operator."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from jobs.db.sessions import Patience
from jobs.models import Job


@dataclass(frozen=True, kw_only=True)
class Options:
    slots: int = 8  # jobs at once
    batch: int = 500  # most jobs per claim
    poll: float = 1.0  # seconds between looks
    lease: timedelta = timedelta(seconds=60)
    alive_file: Path | None = None  # whose age shows that the worker lives
    grace: timedelta | None = None  # for running jobs on stop; None: the longest timeout + 5 s
    seconds: float = math.inf  # after which it claims no more
    jobs: float = math.inf  # most that it claims
    way: str = ""  # how a worker that does not stay was started, in words for people
    is_guest: bool = False  # in a process that serves something else and goes on without it

    @property
    def patience(self) -> Patience:
        """Short for locks: while the main thread waits for a lock, it settles no job."""
        return Patience(
            locks=min(timedelta(seconds=1), self.lease / 4),
            statements=min(timedelta(seconds=10), self.lease / 2),
        )

    def grace_for(self, models: Iterable[type[Job]]) -> float:
        """Seconds that running jobs have when the worker stops."""
        if self.grace is not None:
            return self.grace.total_seconds()
        return max((model.timeout.total_seconds() for model in models), default=0) + 5
