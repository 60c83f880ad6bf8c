"""What the console says about schedules: the next run, the last run, and what is wrong."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from jobs.console import sentences, shown
from jobs.db import clock
from jobs.models import Job, Pause, Schedule, model_of
from jobs.paid import waiting
from jobs.schedules import declaring, looking, times, validity, words, zones

MOST_BROKEN = 20  # that are told by name

sentences.sentence(looking.NOT_ENQUEUED)


class Changed(NamedTuple):
    """A column that a person has changed."""

    name: str
    value: str
    declared: str


@dataclass
class Standing:
    """A schedule at one moment."""

    schedule: Schedule
    now: datetime
    fault: str
    last: Job | None = None
    paused: str = ""  # why its jobs don't start, though they are enqueued

    @property
    def times(self) -> str:
        return words.describe(self.schedule.cron, self.schedule.time_zone)

    @property
    def kind(self) -> str:
        model = model_of(self.schedule.kind)
        return str(model._meta.verbose_name) if model else self.schedule.kind

    @property
    def is_on(self) -> bool:
        return self.schedule.enabled and self.schedule.undeclared_at is None

    @property
    def next_run(self) -> datetime | None:
        """None while it does not run, whatever its times are."""
        if self.fault or not self.is_on:
            return None
        row = self.schedule
        return times.next_after(row.cron, row.time_zone, row.last_scheduled_for.astimezone(UTC))

    @property
    def is_due(self) -> bool:
        return self.next_run is not None and self.next_run <= self.now

    @property
    def next_text(self) -> str:
        if self.next_run is None:
            return shown.NOT_KNOWN
        if self.is_due:
            return _("due: waits for a worker to look")
        return shown.moment(self.next_run)

    @property
    def next_there(self) -> str:
        """The next run by the clocks of its time zone, if they differ from those of the console."""
        zone = self.schedule.time_zone
        if self.next_run is None or zone == settings.TIME_ZONE:
            return ""
        local = self.next_run.astimezone(zones.load(zone))
        return f"{date_format(local, 'Y-m-d H:i')} {zone}"

    @property
    def grace(self) -> str:
        return value_text("grace", self.schedule.grace)

    @property
    def state(self) -> str:
        if self.schedule.undeclared_at:
            return _("no longer in the code")
        if self.fault:
            return _("can’t run")
        return _("on") if self.schedule.enabled else _("off")

    @property
    def colour(self) -> str:
        if self.schedule.undeclared_at or not self.schedule.enabled:
            return "plain"
        return "danger" if self.fault else "success"

    @property
    def skip_reason(self) -> str:
        return sentences.told(self.schedule.skip_reason) if self.schedule.skip_reason else ""

    @property
    def changed(self) -> list[Changed]:
        facts, declared = declaring.facts_of(self.schedule), self.schedule.declared or {}
        return [
            Changed(label(name), fact_text(name, facts[name]), fact_text(name, declared.get(name)))
            for name in declaring.changed_by_people(self.schedule)
        ]


def look(rows: Iterable[Schedule]) -> list[Standing]:
    """These schedules with their last runs: one query per kind of job."""
    now = clock.now()
    standings = [Standing(row, now, validity.fault_of(row)) for row in rows]
    pauses = {pause.kind: waiting.paused(pause).text for pause in Pause.objects.lasting()}
    wanted: dict[str, dict[UUID, Standing]] = defaultdict(dict)
    for standing in standings:
        standing.paused = pauses.get(standing.schedule.kind, "")
        if id := standing.schedule.last_job_id:
            wanted[standing.schedule.kind][id] = standing
    for kind, by_id in wanted.items():
        if model := model_of(kind):
            for job in model.objects.with_ids(by_id):
                by_id[job.pk].last = job
    return standings


def broken() -> list[tuple[Schedule, str]]:
    """Schedules that should run and can't, and why."""
    active = Schedule.objects.active().order_by("name")
    found = [(row, fault) for row in active if (fault := validity.fault_of(row))]
    return found[:MOST_BROKEN]


def label(name: str) -> str:
    return str(Schedule._meta.get_field(name).verbose_name)  # type: ignore[union-attr]


def fact_text(name: str, fact: Any) -> str:
    return value_text(name, declaring.as_column(name, fact))


def value_text(name: str, value: Any) -> str:
    """A column's value for people."""
    if value is None:
        return _("until the next run, at most a day") if name == "grace" else shown.NOT_KNOWN
    if isinstance(value, bool):
        return pgettext("schedule", "yes") if value else pgettext("schedule", "no")
    return str(value)


def changes_text(changes: dict[str, tuple[Any, Any]]) -> str:
    """For the audit: the old and the new value of each column."""
    return ", ".join(f"{name}: {old} → {new}" for name, (old, new) in changes.items())
