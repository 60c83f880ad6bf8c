"""Where the due jobs of a model begin.

While an old snapshot is open elsewhere (a dump, a forgotten transaction), PostgreSQL can't remove
the index entries of jobs that were queued since. A scan for due jobs steps over all of them: half a
second for a million. So a worker remembers where the last slow scan found the first living job,
and begins there. What is due before that point waits for the next scan from the beginning, for 15
seconds at most: rows of transactions that took long to commit, or with a time in the past.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Q
from django.db.models.fields.tuple_lookups import Tuple, TupleGreaterThanOrEqual

from jobs.db import clock, sessions
from jobs.db.compiled import Updated
from jobs.models import Job, JobQuerySet

CHEAP = 0.01  # seconds; a scan that takes less always begins at the beginning
EACH = 0.00005  # seconds that fetching may take besides, for each job that a scan finds
SHARE = 10  # after a slow scan from the beginning, the pause is this many times its length
LONGEST = 15.0  # seconds, of that pause
SLACK = timedelta(seconds=5)  # for transactions that take a while to commit

Key = tuple[int, datetime, datetime]  # as jobs are in turn
Take = Callable[[int], Updated]  # finds so many due jobs, locks them and moves them


def pause_after(seconds: float) -> float:
    """How long to wait after a scan from the beginning until the next one, in seconds."""
    if seconds < CHEAP or connection.vendor != "postgresql":  # SQLite keeps no dead entries
        return 0.0
    return min(SHARE * seconds, LONGEST)


@dataclass
class Scan:
    """The jobs that a claim has locked, of those wanted, and how it searched for them."""

    wanted: int
    is_whole: bool  # from the beginning
    jobs: list[Any] = field(default_factory=list)
    are_moved: bool = False  # the statement that found the jobs has moved them, too
    pause: float = 0.0  # if it was slow: seconds until the next one from the beginning
    now: datetime | None = None  # and the moment when it began, by the database's clock

    @property
    def unmoved(self) -> list[Any]:
        return [] if self.are_moved else self.jobs

    @property
    def end(self) -> Key | None:
        """The key of its last job; None: it came to the end."""
        return key_of(self.jobs[-1]) if len(self.jobs) == self.wanted else None


class Front:
    """Which jobs of one model a worker need not ask about for a while: they have been taken."""

    def __init__(self) -> None:
        self.until = -math.inf  # until then (monotonic), scans begin here
        # Everything due at this moment had been taken, except jobs from `key` on.
        self.since: datetime | None = None  # None: begin at the beginning
        self.key: Key | None = None

    @property
    def is_resting(self) -> bool:
        """Whether a scan from the beginning was slow, not long ago."""
        return time.monotonic() < self.until

    @property
    def is_at_the_beginning(self) -> bool:
        return self.since is None or not self.is_resting

    @property
    def conditions(self) -> list[Q | TupleGreaterThanOrEqual]:
        """Ranges of the index ..._claim that hold all other due jobs, in turn; none: everything."""
        if self.is_at_the_beginning:
            return []
        newer = Q(run_after__gte=self.since)
        if self.key is None:
            return [newer]
        turn = Tuple("priority", "run_after", "created_at")
        return [Q(newer, priority__lt=self.key[0]), TupleGreaterThanOrEqual(turn, self.key)]

    def scan(self, due: JobQuerySet, wanted: int, take: Take | None = None) -> Scan:
        """Lock the first due jobs; from the beginning, `take` moves them too."""
        conditions = self.conditions
        scan = Scan(wanted, is_whole=not conditions)
        began_at = time.monotonic()
        with sessions.in_order_of_index(when=bool(conditions)):
            if take and scan.is_whole and wanted > 0:
                taken = take(wanted)
                scan.are_moved, scan.jobs = True, sorted(taken.objects, key=key_of)
                search = taken.search_seconds
            else:
                for condition in conditions or [Q()]:
                    scan.jobs += due.filter(condition)[: wanted - len(scan.jobs)]
                search = None
        seconds = time.monotonic() - began_at
        search = seconds - EACH * len(scan.jobs) if search is None else search
        if scan.is_whole and (pause := pause_after(search)):
            scan.pause, scan.now = pause, _began(scan, seconds)
        return scan

    def advance(self, scan: Scan) -> None:
        """Remember where a claim ended. It is committed: nothing here may fail."""
        if not scan.wanted:
            return
        if scan.is_whole:
            self.rest(scan.pause, scan.now, scan.end)
        elif scan.end is None or self.key is None or scan.end > self.key:
            self.key = scan.end

    def begin_anew(self) -> None:
        """Let the next scan begin at the beginning."""
        self.since = self.key = None

    def pass_by(self, now: datetime | None) -> None:
        """Note that no job from here on is due at this moment."""
        if self.is_resting and now:
            self.since, self.key = now - SLACK, None

    def rest(self, pause: float, now: datetime | None, key: Key | None = None) -> None:
        """Begin at this point for a while; without a moment, at the beginning."""
        self.until = time.monotonic() + pause
        self.since = now and now - SLACK
        self.key = key


def _began(scan: Scan, seconds: float) -> datetime | None:
    """When it began. Nothing is asked once jobs are claimed: a fault would lose them."""
    if scan.are_moved and scan.jobs:
        moment: datetime = scan.jobs[0].locked_at
        return moment
    return clock.now() - timedelta(seconds=seconds)


def key_of(job: Job) -> Key:
    return job.priority, job.run_after, job.created_at
