"""What processes are about. Only the app that started one knows: it says so here.

`AppConfig.ready` is the place to register a function. It gets the ids of all processes on a page
at once, and tells about those it knows.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Model


@dataclass(frozen=True)
class Subject:
    """What a process is for; what stays to be told when its jobs are gone; rows with a page."""

    text: str
    facts: str = ""
    rows: Sequence[Model] = ()


Describer = Callable[[Collection[UUID]], Mapping[UUID, Subject]]

_describers: list[Describer] = []


def describes(describer: Describer) -> Describer:
    """Let this function tell what processes are about."""
    if describer not in _describers:
        _describers.append(describer)
    return describer


def about(ids: Collection[UUID]) -> dict[UUID, Subject]:
    """The subjects of these processes, as far as an app knows them."""
    found: dict[UUID, Subject] = {}
    for describer in _describers if ids else ():
        found |= describer(ids)
    return found
