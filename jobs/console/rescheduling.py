"""Another time or priority for queued jobs, as an action of the console and the command line."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _

from jobs import queue
from jobs.console import sentences, shown
from jobs.console.actions import Action, Jobs
from jobs.db import clock
from jobs.models import Status
from jobs.queue import rescheduling

NAME = "reschedule"
TITLE = _("Another time or priority")


@dataclass(frozen=True)
class Wish:
    """What a person asks for; None: as it is."""

    run_after: datetime | None = None
    priority: int | None = None

    def move(self, jobs: Jobs, by: object) -> list[Any]:
        return queue.reschedule(
            jobs, by, run_after=self.run_after, priority=self.priority, most=queue.CHUNK
        )

    def carried(self) -> tuple[tuple[str, str], ...]:
        """The fields of the form again, for the next request."""
        at = [("at", self.run_after.isoformat())] if self.run_after else []
        priority = [] if self.priority is None else [("priority", str(self.priority))]
        return (*at, *priority)


def action(wish: Wish) -> Action:
    time = _time(wish)
    return Action(
        NAME,
        TITLE,
        _("Jobs with another time or priority: %s."),
        _told_of_many(wish, time),
        (Status.QUEUED,),
        wish.move,
        told_of=lambda job: _told(wish, time, job),
        skipped=rescheduling.in_batch if wish.run_after else None,
        carried=wish.carried(),
    )


def _time(wish: Wish) -> str:
    """The new time for people. A moment in the past means now."""
    return shown.moment(max(wish.run_after, clock.now())) if wish.run_after else ""


def _told(wish: Wish, time: str, job: Any) -> str:
    """The new values, and the old ones of a job that is given as it was before."""
    retimed = (time, shown.moment(job.run_after))
    reordered = (wish.priority, job.priority)
    if wish.priority is None:
        return sentences.RETIMED % retimed
    if wish.run_after is None:
        return sentences.REORDERED % reordered
    return sentences.RESCHEDULED % (*retimed, *reordered)


def _told_of_many(wish: Wish, time: str) -> str:
    """The new values only: the old ones differ."""
    if wish.priority is None:
        return sentences.MANY_RETIMED % time
    if wish.run_after is None:
        return sentences.MANY_REORDERED % wish.priority
    return sentences.MANY_RESCHEDULED % (time, wish.priority)
