"""How long a batch waits before its next step: growing, jittered, never from two workers."""

import random
from typing import TYPE_CHECKING

from django.db.models.functions import Now

if TYPE_CHECKING:
    from jobs.paid.batches.models import Batch

SHORTEST, LONGEST = 30.0, 600.0  # seconds
GROWTH = 1.5
LIST_LAGS = (60.0, 240.0)  # after which a batch whose creation was lost is looked for again
SETTLING = 5.0  # until a job that runs now may have settled


def poll(polls: int) -> float:
    """The seconds until the next poll."""
    return _jittered(min(SHORTEST * GROWTH ** min(polls, 20), LONGEST))


def closed(batch: "Batch") -> float:
    """The seconds until it looks again whether its provider is open: a tenth of its age."""
    now = type(batch).objects.filter(pk=batch.pk).values_list(Now(), flat=True).get()
    age = (now - batch.created_at).total_seconds()
    return _jittered(min(max(age / 10, SHORTEST), LONGEST))


def _jittered(seconds: float) -> float:
    return seconds * random.uniform(0.8, 1.2)
