"""How long a batch waits before its next step: growing and jittered."""

import random
from datetime import datetime
from typing import TYPE_CHECKING

from jobs.db import clock
from jobs.errors import Snooze

if TYPE_CHECKING:
    from jobs.paid.batches.models import Batch

SHORTEST, LONGEST = 30.0, 600.0  # seconds
GROWTH = 1.5
LOOKS = (60.0, 300.0)  # seconds after which something missing is looked for again
SETTLING = 5.0  # until a job that runs now may have settled


def poll(polls: int) -> float:
    """The seconds until the next poll."""
    return _jittered(min(SHORTEST * GROWTH ** min(polls, 20), LONGEST))


def look_again(since: datetime, reason: str) -> None:
    """Raise Snooze until the next look for something that is missing since then.

    By the time, not by the count of looks: a person can press "look now" as often as they like.
    """
    passed = (clock.now() - since).total_seconds()
    for moment in LOOKS:
        if passed < moment:
            raise Snooze(moment - passed, reason)


def closed(batch: "Batch") -> float:
    """The seconds until it looks again whether its provider is open: a tenth of its age."""
    age = (clock.now() - batch.created_at).total_seconds()
    return _jittered(min(max(age / 10, SHORTEST), LONGEST))


def _jittered(seconds: float) -> float:
    return seconds * random.uniform(0.8, 1.2)
