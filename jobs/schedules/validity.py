"""What may be a schedule: for the code's declarations, for people's forms, for stored rows."""

import inspect
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext as _

from jobs.models import Job, Schedule, model_of
from jobs.schedules import times

LONGEST_NAME = 200
SHORTEST_GRACE, LONGEST_GRACE = timedelta(minutes=1), timedelta(days=366)


def check_name(name: object) -> None:
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise ValueError(f"name={name!r}: it must have 1 to {LONGEST_NAME} printable letters.")


def check_times(cron: object, time_zone: object, grace: timedelta | None) -> None:
    """Raise ValueError, with a text for people, if a schedule can't have these times."""
    if not isinstance(cron, str) or not isinstance(time_zone, str):
        raise ValueError(f"{cron!r}, {time_zone!r}: expression and time zone must be texts.")
    times.check(cron, time_zone)
    if grace is not None and not SHORTEST_GRACE <= grace <= LONGEST_GRACE:
        text = _("The grace must be a minute to a year, not %(grace)s.")
        raise ValueError(text % {"grace": grace})


def check_arguments(model: type[Job], arguments: Mapping[str, Any]) -> None:
    """Raise ValueError if the model can't be made with these arguments."""
    own = {field.name for field in model._meta.fields}
    base = {field.name for field in Job._meta.fields}
    if refused := sorted(base & set(arguments)):
        names = ", ".join(refused)
        raise ValueError(f"{names}: the queue sets these columns, they can't be arguments.")
    if model.for_schedule.__func__ is not Job.for_schedule.__func__:  # type: ignore[attr-defined]
        return _check_signature(model, arguments)
    if unknown := sorted(set(arguments) - own):
        names = ", ".join(unknown)
        raise ValueError(f"{names}: {model._meta.label} has no such column.")
    return None


def _check_signature(model: type[Job], arguments: Mapping[str, Any]) -> None:
    try:
        inspect.signature(model.for_schedule).bind(times.START, **arguments)
    except TypeError as error:
        raise ValueError(f"{model._meta.label}.for_schedule: {error}.") from None


def fault_of(schedule: Schedule) -> str:
    """Why a stored schedule can't run, as this code knows it; empty if it can."""
    if model_of(schedule.kind) is None:
        text = _("The kind of job “%(kind)s” is unknown here.")
        return text % {"kind": schedule.kind}
    try:
        check_times(schedule.cron, schedule.time_zone, schedule.grace)
    except ValueError as error:
        return str(error)
    return ""
