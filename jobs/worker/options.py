"""The options of a worker, chosen by its operator."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, kw_only=True)
class Options:
    slots: int = 8  # jobs at once
    batch: int = 500  # most jobs per claim
    poll: float = 1.0  # seconds between looks
    lease: timedelta = timedelta(seconds=60)
    grace: timedelta | None = None  # for running jobs on stop; None: the longest timeout + 5 s
