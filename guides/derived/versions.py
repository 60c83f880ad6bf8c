"""Versions of derived texts: the same content again is no change; an older one can be put back."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from guides.derived.models import Version

Payload = Mapping[str, Any]
PutBack = Callable[[Version], None]

_put_back: dict[str, PutBack] = {}


def unit_of(kind: str, *parts: object) -> str:
    """The name of a unit. Its last part may contain anything, the others no colon."""
    return ":".join([kind, *map(str, parts)])


def payload_hash(payload: Payload) -> str:
    """The same for the same content, whatever the order of its keys."""
    canonical = json.dumps(payload, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def latest(unit: str) -> Version | None:
    return Version.objects.filter(unit=unit).order_by("-version").first()


def keep(
    unit: str,
    payload: Payload,
    *,
    made_by: str,
    job_id: UUID | None = None,
    process_id: UUID | None = None,
) -> Version | None:
    """Add a version, in the caller's transaction; None: the latest one says the same."""
    hash = payload_hash(payload)
    while True:
        last = latest(unit)
        if last and last.payload_hash == hash:
            return None
        new = Version(
            unit=unit,
            version=last.version + 1 if last else 1,
            payload=dict(payload),
            payload_hash=hash,
            made_by=made_by,
            job_id=job_id,
            process_id=process_id,
        )
        Version.objects.bulk_create([new], ignore_conflicts=True)
        if Version.objects.filter(pk=new.pk).exists():
            return new
        # Another session has added a version of this number just now.


def numbers(units: list[str]) -> dict[str, int]:
    """How many versions each of these units has."""
    found = Version.objects.filter(unit__in=units).order_by().values("unit")
    return dict(found.annotate(last=Max("version")).values_list("unit", "last"))


def puts_back(kind: str) -> Callable[[PutBack], PutBack]:
    """Let this function show an older version of units of a kind again."""

    def register(put_back: PutBack) -> PutBack:
        _put_back[kind] = put_back
        return put_back

    return register


def can_be_put_back(version: Version) -> bool:
    return kind_of(version.unit) in _put_back


@transaction.atomic
def put_back(version: Version, by: object) -> Version | None:
    """Show an older version again: its content becomes the latest version, made by this person.

    None: it is the latest one already, and is shown again all the same.
    """
    _put_back[kind_of(version.unit)](version)
    return keep(version.unit, version.payload, made_by=str(by))


def kind_of(unit: str) -> str:
    return unit.partition(":")[0]
