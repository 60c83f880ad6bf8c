"""What `manage.py jobs pause` and `jobs resume` answer, for a provider or for a kind of job."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from jobs.console import audit, sentences
from jobs.console.cli_groups import Printed, misused
from jobs.db import clock
from jobs.models import Job, Provider, job_models
from jobs.paid import pausing as providers
from jobs.queue import pausing as kinds

LONGEST = 366 * 24 * 60  # minutes

Subject = Provider | type[Job]


def pause(
    *, name: str, reason: str, minutes: float | None, by: object, dry_run: bool, **_: Any
) -> Printed:
    found = _find(name)
    if minutes is not None and not 0 < minutes <= LONGEST:
        raise misused(f"--minutes {minutes:g}: more than 0, and at most {LONGEST} (a year).")
    until = None if minutes is None else clock.now() + timedelta(minutes=minutes)
    is_new = dry_run or _pause(found, reason or sentences.PAUSED % by, until, by)
    data = {**_named(found), "paused": True, "changed": is_new and not dry_run}
    end = f"paused until {until:%Y-%m-%d %H:%M:%S %Z}" if until else "paused until resumed"
    line = f"{name}: {end if is_new else 'left alone, it is paused for longer already'}"
    return Printed({**data, "until": until if is_new else None, "dry_run": dry_run}, [line], is_new)


@transaction.atomic
def _pause(found: Subject, reason: str, until: datetime | None, by: object) -> bool:
    said = sentences.paused(until, reason)
    if isinstance(found, Provider):
        is_new = providers.pause(found.name, reason, until, by=by)
        if is_new:
            audit.note(by, [found], said)
    else:
        is_new = kinds.pause(found._meta.label, reason, until, by=by)
        if is_new:
            audit.note_kind(by, found, said)
    return is_new


def resume(*, name: str, by: object, dry_run: bool, **_: Any) -> Printed:
    found = _find(name)
    if not dry_run:
        _resume(found, by)
    data = {**_named(found), "paused": False, "dry_run": dry_run}
    return Printed(data, [f"{name}: open"])


@transaction.atomic
def _resume(found: Subject, by: object) -> None:
    if isinstance(found, Provider):
        providers.resume(found.name, by=by)
        audit.note(by, [found], sentences.RESUMED)
    elif kinds.resume(found._meta.label, by=by):
        audit.note_kind(by, found, sentences.RESUMED)


def _find(name: str) -> Subject:
    """A known name only: a misspelt one must not look as if it were paused."""
    provider = Provider.objects.filter(name=name).first()
    models = {model._meta.label: model for model in job_models()}
    if provider and name in models:
        raise misused(f"{name} is a provider and a kind of job: use the console.")
    if found := provider or models.get(name):
        return found
    known = ", ".join(Provider.objects.values_list("name", flat=True)[:50]) or "none"
    kinds = ", ".join(models)
    raise misused(f"There is no provider {name}. Known: {known}. Nor such a kind: {kinds}.")


def _named(found: Subject) -> dict[str, str]:
    if isinstance(found, Provider):
        return {"provider": found.name}
    return {"kind": found._meta.label}
