"""Recording what happened: once, in the caller's transaction, with a job for each handler."""

import json
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models.functions import Now

from jobs import queue
from jobs.db import inserts
from jobs.db.json_values import canonical
from jobs.errors import InvalidEvent
from jobs.events import checks, handlers
from jobs.events.models import EventJob
from jobs.models import Event
from jobs.tracing import logged


class Recorded(NamedTuple):
    event: Event
    is_new: bool
    is_same: bool = True  # False: the stored event has this key, but another kind or payload


@logged
def record(
    source: str,
    kind: str,
    payload: dict[str, Any] | None = None,
    *,
    dedupe_key: str | None = None,
) -> Recorded:
    """Record an event in the caller's transaction; its handlers run as jobs.

    With a `dedupe_key`, twice is once: the first event of this source and key is returned, and
    nothing is handled again. Raises InvalidEvent, and UnknownEvent for a kind nobody declared.
    """
    payload = {} if payload is None else payload
    faults = checks.faults(source, kind, dedupe_key, payload)
    if not faults:
        found = handlers.find_kind(kind)
        faults = checks.faults_of_kind(found, payload)
    if faults:
        raise InvalidEvent("; ".join(map(str, faults)))
    event = Event(source=source, kind=kind, dedupe_key=dedupe_key, payload=payload)
    if not found.handlers:
        event.processed_at = Now()  # nothing is to be done
    with transaction.atomic(savepoint=False):
        while not inserts.insert_missing([event]):
            if stored := Event.objects.filter(source=source, dedupe_key=dedupe_key).first():
                return Recorded(stored, False, _is_same(stored, kind, payload))
            # It was deleted after the insert met it, so this one is new.
        queue.enqueue(EventJob(event=event, handler=name) for name in found.handlers)
    return Recorded(_stored(event), True)


def _stored(event: Event) -> Event:
    """The event as if it had been read; asking for what the database filled in reads it."""
    event._state.adding, event._state.db = False, connection.alias
    for name in ("created_at", "processed_at"):
        event.__dict__.pop(name)
    return event


def _is_same(stored: Event, kind: str, payload: dict[str, Any]) -> bool:
    return stored.kind == kind and _comparable(stored.payload) == _comparable(payload)


def _comparable(payload: Any) -> Any:
    """Numbers by their value: PostgreSQL writes 1e22 as 10000000000000000000000."""

    def number(text: str) -> tuple[Decimal]:
        return (Decimal(text),)  # in a tuple, so that 1 does not equal true

    return json.loads(canonical(payload), parse_int=number, parse_float=number)
