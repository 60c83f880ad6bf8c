"""What every worker does every few seconds: look which schedules are due, and enqueue their runs.

No worker is the leader. The row of a schedule is locked while its moment is decided, and the run
is inserted in the transaction that raises the watermark: so each moment is decided once, by the
database's clock, whatever clock the worker has.
"""

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import Error, transaction
from django.db.models import F
from django.utils.translation import gettext_noop

from jobs.db import clock, faults, sessions, text
from jobs.db.sessions import BRIEF
from jobs.models import Schedule
from jobs.schedules import runs, times, validity
from jobs.schedules.runs import AlreadyThere
from jobs.schedules.times import Due

log = logging.getLogger(__name__)

# Why a moment had no run; the console translates them.
LATE = gettext_noop("No worker looked in time.")
OPEN = gettext_noop("The last run was still open.")
KNOWN = gettext_noop("A job like it existed already.")
NOT_ENQUEUED = gettext_noop("It could not be enqueued: %s")


@dataclass
class Decision:
    """What became of the moments that had come."""

    due: Due
    job_id: UUID | None = None
    reason: str = ""  # why the latest moment has no run
    made: set[datetime] = field(default_factory=set)  # moments that had their run already

    @property
    def skipped(self) -> int:
        """How many moments had no run; at most 10,001 are counted."""
        return max(0, self.due.missed - len(self.made - {self.due.tick})) + bool(self.reason)

    @property
    def changes(self) -> dict[str, Any]:
        changes: dict[str, Any] = {"last_scheduled_for": self.due.tick}
        if self.job_id:
            changes["last_job_id"] = self.job_id
        if self.skipped:
            changes["skipped"] = F("skipped") + self.skipped
            changes["skipped_for"] = self.due.tick if self.reason else self.due.before
            changes["skip_reason"] = self.reason or LATE
        return changes

    def report(self, name: str) -> None:
        if self.job_id:
            log.debug("%s: run %s for %s", name, self.job_id, self.due.tick)
        elif self.due.tick in self.made:
            log.warning("%s: %s has had its run already", name, self.due.tick)
        if self.skipped:
            number = self.skipped if self.due.missed < times.MOST else f"more than {times.MOST}"
            reason = self.reason or LATE
            log.warning("%s: skipped %s until %s: %s", name, number, self.due.tick, reason)


class Looker:
    """One worker's look at the schedules; it remembers what it has complained about."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}

    def look(self) -> int:
        """Enqueue the runs of all schedules that are due; returns how many."""
        with sessions.short_transaction(BRIEF):
            schedules = list(Schedule.objects.active())
            now = clock.now().astimezone(UTC) if schedules else None
        return sum(self.look_at(each, now) for each in schedules) if now else 0

    def look_at(self, schedule: Schedule, now: datetime) -> bool:
        """Whether this schedule got a run. If it is broken or locked, the others go on."""
        try:
            if fault := validity.fault_of(schedule):
                self.tell_once(schedule.name, fault)
                return False
            decision = decide(schedule, now) if is_due(schedule, now) else None
        except Error as error:
            if faults.is_servers(error) or faults.is_lost():
                raise
            log.warning("The schedule %s is left alone for a while: %s", schedule.name, error)
            return False
        except Exception as error:
            self.tell_once(schedule.name, text.message(error))
            return False
        self.told.pop(schedule.name, None)
        if decision:
            decision.report(schedule.name)
        return bool(decision and decision.job_id)

    def tell_once(self, name: str, fault: str) -> None:
        if self.told.get(name) != fault:
            self.told[name] = fault
            log.error("The schedule %s can't run: %s", name, fault)


def is_due(schedule: Schedule, now: datetime) -> bool:
    watermark = schedule.last_scheduled_for
    moment = times.next_after(schedule.cron, schedule.time_zone, watermark)
    return moment is not None and moment <= now


def decide(schedule: Schedule, now: datetime) -> Decision | None:
    """Decide the moments that have come; None if another worker does, or has."""
    with sessions.short_transaction(BRIEF):
        locked = Schedule.objects.active().select_for_update(skip_locked=True)
        row = locked.filter(pk=schedule.pk).first()
        if row is None:
            return None
        due = times.due(row.cron, row.time_zone, row.last_scheduled_for, now)
        if due is None:
            return None
        decision = _decide(row, due, now)
        undecided = Schedule.objects.filter(pk=row.pk, last_scheduled_for__lt=due.tick)
        undecided.update(**decision.changes)
    return decision


def _decide(row: Schedule, due: Due, now: datetime) -> Decision:
    made = runs.between(row, row.last_scheduled_for, due.tick)
    if due.tick in made:
        return Decision(due, made=made)
    if now - due.tick > times.grace_for(due, row.grace):
        return Decision(due, reason=LATE, made=made)
    if not row.overlap and runs.is_open(row):
        return Decision(due, reason=OPEN, made=made)
    job_id, reason = _enqueue(row, due.tick)
    return Decision(due, job_id, reason, made)


def _enqueue(row: Schedule, tick: datetime) -> tuple[UUID | None, str]:
    """The id of the run, or why there is none."""
    try:
        with transaction.atomic():
            return runs.enqueue(row, tick, tick).pk, ""
    except AlreadyThere:
        return None, KNOWN
    except Exception as error:
        if faults.is_passing(error) or faults.is_in_the_way(error):
            raise
        log.error("The schedule %s could not enqueue its run", row.name, exc_info=error)
        return None, NOT_ENQUEUED % text.clean(text.message(error), 500)
