"""What a person asks of a schedule. The caller writes the audit, in the same transaction."""

import logging
from datetime import UTC
from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from jobs.db import clock, faults, text
from jobs.models import Job, Schedule
from jobs.schedules import declaring, runs, validity
from jobs.schedules.runs import AlreadyThere
from jobs.tracing import logged

log = logging.getLogger(__name__)

Changes = dict[str, tuple[Any, Any]]  # column: its value before and after


class Refused(Exception):
    """It can't be done now; the text tells a person why."""


@logged
@transaction.atomic
def run_now(schedule: Schedule) -> Job:
    """Enqueue a run by hand, beside the timetable: the next run comes as if nothing had happened.

    Raises Refused if the schedule is broken, or while its last run is open, unless it may overlap.
    """
    row = _locked(schedule)
    if row.undeclared_at:
        raise Refused(_("%(name)s is no longer in the code.") % {"name": row.name})
    if fault := validity.fault_of(row):
        raise Refused(fault)
    if not row.overlap and runs.is_open(row):
        raise Refused(_("The last run of %(name)s is still open.") % {"name": row.name})
    try:
        with transaction.atomic():
            job = runs.enqueue(row, clock.now().astimezone(UTC), None)
    except AlreadyThere:
        raise Refused(_("%(name)s: a job like it exists already.") % {"name": row.name}) from None
    except Exception as error:
        if faults.is_passing(error) or faults.is_in_the_way(error):
            raise
        log.error("The schedule %s could not enqueue a run", row.name, exc_info=error)
        told = {"name": row.name, "error": text.message(error)}
        raise Refused(_("%(name)s could not be enqueued: %(error)s") % told) from error
    Schedule.objects.filter(pk=row.pk).update(last_job_id=job.pk)
    return job


@logged
@transaction.atomic
def change(schedule: Schedule, **columns: Any) -> Changes:
    """Change cron, time_zone, grace or overlap; raises ValueError if they are not valid.

    Another time counts from now on: nothing of the past fires.
    """
    row = _locked(schedule)
    before = {name: getattr(row, name) for name in columns}
    wanted = {name: getattr(row, name) for name in ("cron", "time_zone", "grace")} | columns
    validity.check_times(wanted["cron"], wanted["time_zone"], wanted["grace"])
    changes = {n: (before[n], value) for n, value in columns.items() if value != before[n]}
    if changes:
        _write(row, {n: value for n, (_before, value) in changes.items()})
    return changes


@logged
def restore(schedule: Schedule) -> Changes:
    """Go back to what the code declares."""
    declared = schedule.declared or {}
    names = declaring.changed_by_people(schedule)
    return change(schedule, **{name: declaring.as_column(name, declared[name]) for name in names})


@logged
@transaction.atomic
def switch(schedule: Schedule, *, on: bool) -> bool:
    """Switch it on or off; False if it was so already. What it missed while off is not made up."""
    row = _locked(schedule)
    if row.enabled == on:
        return False
    _write(row, {"enabled": on})
    return True


def _write(row: Schedule, columns: dict[str, Any]) -> None:
    if columns.get("enabled") or columns.keys() & set(declaring.TIMES):
        columns["last_scheduled_for"] = Now()
    Schedule.objects.filter(pk=row.pk).update(**columns, updated_at=Now())


def _locked(schedule: Schedule) -> Schedule:
    return Schedule.objects.select_for_update().get(pk=schedule.pk)
