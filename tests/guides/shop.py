"""A queue in numbers only: workers, slots and tokens, moved on by a tenth of a second at a time.

It shares no formula with the estimates, so that they can be compared with it.
"""

import uuid
from dataclasses import dataclass
from datetime import timedelta

from django.db.models.functions import Now

from jobs.models import Attempt

TICK = 0.1


@dataclass(kw_only=True)
class Shop:
    slots: int = 8
    work: float = 10.0  # seconds of a picture that is made alone
    cores: float = float("inf")  # more pictures at once than cores slow each other down
    rate: int | None = None  # a minute
    burst: int = 5
    fails: int = 0  # every n-th attempt fails, and is made again at the end of the line

    def make(self, pictures, half_done=0):
        """Seconds at which each attempt starts and ends, and whether it succeeds.

        `half_done` of the pictures have had half of their work already.
        """
        left = [self.work / 2] * half_done  # work left of each attempt that runs
        begun = [-self.work / 2] * half_done
        line, made = pictures - half_done, []
        now, tokens, attempts = 0.0, float(self.burst), half_done
        while line or left:
            while line and len(left) < self.slots and (not self.rate or tokens >= 1):
                line, tokens = line - 1, tokens - 1
                left.append(self.work)
                begun.append(now)
            now += TICK
            tokens = min(self.burst, tokens + (self.rate or 0) / 60 * TICK)
            speed = min(1.0, self.cores / max(len(left), 1))
            left = [work - speed * TICK for work in left]
            for n in reversed([n for n, work in enumerate(left) if work <= 1e-9]):
                attempts += 1
                failed = bool(self.fails) and attempts % self.fails == 0
                line += failed
                made.append((begun.pop(n), now, not failed))
                left.pop(n)
        return made

    def remember(self, pictures, ago):
        """Write the history of pictures that were made a while ago."""
        for start, end, is_good in self.make(pictures):
            Attempt.objects.create(
                kind="guides.SpotImageJob",
                outcome="succeeded" if is_good else "failed",
                worker="w",
                job_id=uuid.uuid4(),
                epoch=1,
                started_at=Now() - timedelta(seconds=ago - start),
                ended_at=Now() - timedelta(seconds=ago - end),
            )

    def seconds_for(self, pictures, **facts):
        return max(end for _, end, _ in self.make(pictures, **facts))
