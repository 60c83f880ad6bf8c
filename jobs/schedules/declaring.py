"""What the code declares, and how it is written to the table at deployment.

What an operator has changed stays as it is: a column follows the code only while its value is
the one that the code declared before.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from django.apps import AppConfig
from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connections, transaction
from django.db.models.functions import Now

from jobs.models import Job, Schedule, job_models
from jobs.schedules import validity
from jobs.schedules.declared import Cron

log = logging.getLogger(__name__)

Facts = dict[str, Any]  # of a schedule, as JSON
TIMES = ("cron", "time_zone")
CHANGEABLE = (*TIMES, "grace", "overlap", "arguments")


class Declaration(NamedTuple):
    model: type[Job]
    declared: Any  # a Cron, if the code is right

    @property
    def name(self) -> str:
        return getattr(self.declared, "name", None) or self.model._meta.label

    def check(self) -> None:
        """Raise ValueError if it can't be a schedule."""
        if not isinstance(self.declared, Cron):
            text = "a cron expression, or Daily(…) and its like"
            raise ValueError(f"{self.declared!r} is no schedule: it must be {text}.")
        validity.check_name(self.name)
        validity.check_times(self.declared.expression, self.time_zone, self.declared.grace)
        validity.check_arguments(self.model, self.declared.arguments)
        try:
            self.facts()
        except TypeError as error:
            raise ValueError(f"Its arguments can't be stored as JSON: {error}.") from None

    @property
    def time_zone(self) -> str:
        return str(self.declared.time_zone or settings.TIME_ZONE)

    def facts(self) -> Facts:
        found = {
            "kind": self.model._meta.label,
            "arguments": dict(self.declared.arguments),
            "cron": self.declared.expression,
            "time_zone": self.time_zone,
            "grace": _seconds(self.declared.grace),
            "overlap": self.declared.overlap,
        }
        facts: Facts = json.loads(json.dumps(found, cls=DjangoJSONEncoder))
        return facts


def declarations() -> Iterator[Declaration]:
    """What all kinds of job declare, whether it is right or not."""
    for model in job_models():
        if model.schedule is None or model._meta.proxy:
            continue
        several = model.schedule if isinstance(model.schedule, list | tuple) else [model.schedule]
        for each in several:
            yield Declaration(model, Cron(each) if isinstance(each, str) else each)


# A row beside its declaration


def facts_of(schedule: Schedule) -> Facts:
    """The columns that the code declares, as JSON."""
    facts = {name: getattr(schedule, name) for name in ("kind", *CHANGEABLE)}
    return facts | {"grace": _seconds(schedule.grace)}


def changed_by_people(schedule: Schedule) -> list[str]:
    """The columns that differ from what the code declares."""
    if schedule.declared is None:
        return []
    facts = facts_of(schedule)
    return [name for name in CHANGEABLE if facts[name] != schedule.declared.get(name)]


def as_column(name: str, fact: Any) -> Any:
    """A declared value, as the row keeps it."""
    return timedelta(seconds=fact) if name == "grace" and fact is not None else fact


def _seconds(grace: timedelta | None) -> float | None:
    return None if grace is None else grace.total_seconds()


# Written after `migrate`


def declare(sender: AppConfig, using: str, **_: Any) -> None:
    """Write all declarations, in one transaction; other processes may do the same."""
    if sender.name != "jobs" or not _has_table(using):
        return
    names: set[str] = set()
    good: dict[str, Facts] = {}
    for each in declarations():
        names.add(each.name)
        try:
            each.check()
            good.setdefault(each.name, each.facts())
        except ValueError as error:  # `check` reports it too; what is in the table stays
            log.error("The schedule %s of %s: %s", each.name, each.model._meta.label, error)
    with transaction.atomic(using=using):
        _write(good, names, using)


def _write(good: Mapping[str, Facts], names: set[str], using: str) -> None:
    rows = Schedule.objects.using(using)
    known = {row.name: row for row in rows.order_by("name").select_for_update()}
    new = [
        Schedule(name=name, declared=facts, **_columns(facts))
        for name, facts in sorted(good.items())
        if name not in known
    ]
    rows.bulk_create(new, ignore_conflicts=True)  # another process may have been quicker
    for name, row in known.items():
        if name in good:
            _follow(row, good[name])
        elif name not in names and row.declared is not None and row.undeclared_at is None:
            row.undeclared_at = Now()
            row.save(update_fields=["undeclared_at"])
            log.info("The schedule %s is no longer in the code: it is left to rest.", name)


def _follow(row: Schedule, facts: Facts) -> None:
    """Let a locked row follow what the code declares now, except where a person changed it."""
    columns = _columns(facts)
    for kept in changed_by_people(row):
        del columns[kept]
    is_back = row.undeclared_at is not None or row.declared is None
    is_retimed = any(name in columns and columns[name] != getattr(row, name) for name in TIMES)
    if is_back or is_retimed:
        columns["last_scheduled_for"] = Now()  # nothing of the past fires
    if is_back or row.declared != facts or is_retimed:
        columns |= {"declared": facts, "undeclared_at": None, "updated_at": Now()}
        Schedule.objects.using(row._state.db).filter(pk=row.pk).update(**columns)


def _columns(facts: Facts) -> dict[str, Any]:
    return {name: as_column(name, fact) for name, fact in facts.items()}


def _has_table(using: str) -> bool:
    """Whether the table is as the models know it: `migrate` may have gone back to an older one."""
    connection = connections[using]
    table = Schedule._meta.db_table
    with connection.cursor() as cursor:
        if table not in connection.introspection.table_names(cursor):
            return False
        found = connection.introspection.get_table_description(cursor, table)
    columns = {field.column for field in Schedule._meta.local_concrete_fields}
    return columns <= {column.name for column in found}
