"""Versions of derived texts: the same content again is no change; an older one can be put back."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Max, Model, QuerySet

from guides.derived.models import Version, kind_of

RowT = TypeVar("RowT", bound=Model)
Payload = Mapping[str, Any]
PutBack = Callable[[Version], None]
Shown = Callable[[str], Payload | None]

KINDS = ("guide", "spot", "topic", "translation", "week")  # that the admin can filter by
BY_HAND = "a person"  # made the text that is shown and that no version holds yet

_put_back: dict[str, PutBack] = {}
_shown: dict[str, Shown] = {}


class CantPutBack(Exception):
    """There is nothing that could show this version again."""


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
            kind=kind_of(unit),
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


def shows(kind: str) -> Callable[[Shown], Shown]:
    """Let this function tell the content that pages show of a unit of a kind; None: nothing.

    It reads its row by `lockable`, so that what a person edits meanwhile is not lost.
    """

    def register(shown: Shown) -> Shown:
        _shown[kind] = shown
        return shown

    return register


def lockable(rows: QuerySet[RowT]) -> QuerySet[RowT]:
    """These rows, locked if they are read inside a transaction."""
    return rows.select_for_update() if connection.in_atomic_block else rows


def can_be_put_back(version: Version) -> bool:
    return kind_of(version.unit) in _put_back


def shown(unit: str) -> Payload | None:
    """What pages show of a unit, if its slice tells and there is anything."""
    tell = _shown.get(kind_of(unit))
    try:
        return tell(unit) if tell else None
    except ValueError:  # no name of a unit: another program may have stored anything
        return None


def is_shown(version: Version) -> bool:
    """Whether pages show this content now; False if its slice does not tell."""
    content = shown(version.unit)
    return content is not None and payload_hash(content) == version.payload_hash


@transaction.atomic
def put_back(version: Version, by: object) -> Version | None:
    """Show an older version again: its content becomes the latest version, made by this person.

    What was shown until now is kept as a version first, if a person had edited it since the
    latest one. None: it is the latest one already, and is shown again all the same.
    """
    if not can_be_put_back(version):
        raise CantPutBack(f"{version.unit}: no slice shows versions of its kind.")
    content = shown(version.unit)
    if content is None and kind_of(version.unit) in _shown:
        raise CantPutBack(f"{version.unit}: it was deleted, or no page shows it any more.")
    if content is not None and not _is_known(version.unit, content):
        keep(version.unit, content, made_by=BY_HAND)
    try:
        _put_back[kind_of(version.unit)](version)
    except (KeyError, TypeError):
        raise CantPutBack(f"{version}: its content is not that of such a text.") from None
    return keep(version.unit, version.payload, made_by=str(by))


def _is_known(unit: str, content: Payload) -> bool:
    known = Version.objects.filter(unit=unit, payload_hash=payload_hash(content))
    return known.exists()
