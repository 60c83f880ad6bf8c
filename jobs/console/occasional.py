"""Workers that do not stay: cron or a request starts each. Is the next one still to be expected?"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, pairwise

from django.utils.translation import gettext as _

from jobs.console import shown
from jobs.db import clock
from jobs.models import Worker

SAME = timedelta(seconds=10)  # starts within this time were one: a request sent twice
RARE = timedelta(minutes=70)  # an hourly run may be late; rarer ones are not regular
AT_FIRST = timedelta(minutes=5)  # until the second one, or if they come by chance
SHORTEST = timedelta(minutes=2)


@dataclass(frozen=True)
class Visits:
    """The last workers that were started in one way."""

    way: str
    last_at: datetime  # when the last of them was at work
    gaps: list[timedelta]  # between their starts

    @property
    def patience(self) -> timedelta:
        """How long the next one may take: twice the usual time."""
        usual = sorted(gap for gap in self.gaps if SAME < gap <= RARE)
        return max(2 * usual[len(usual) // 2], SHORTEST) if usual else AT_FIRST

    def is_next_expected(self, now: datetime) -> bool:
        return now - self.last_at <= self.patience

    def text(self, now: datetime) -> str:
        told = {"time": shown.short(now - self.last_at), "way": self.way}
        return _("last run %(time)s ago by %(way)s") % told


def visits() -> list[Visits]:
    """The ways in which workers came lately, those at work now included."""
    rows = Worker.objects.exclude(way="").order_by("way", "started_at")
    return [summed_up(way, list(workers)) for way, workers in groupby(rows, lambda row: row.way)]


def summed_up(way: str, workers: list[Worker]) -> Visits:
    last_at = max(worker.ended_at or worker.last_beat_at for worker in workers)
    starts = [worker.started_at for worker in workers]
    return Visits(way, last_at, [later - earlier for earlier, later in pairwise(starts)])


def is_none_expected() -> bool:
    """Whether no worker takes jobs now, and none will come by itself."""
    if Worker.objects.working().exists():
        return False
    now = clock.now()
    return not any(each.is_next_expected(now) for each in visits())
