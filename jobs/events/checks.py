"""What an event may hold. Every fault is told, not only the first."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from jobs.db import json_values, text
from jobs.events.handlers import NAME, Kind

LONGEST_SOURCE = 100
LONGEST_KEY = 200
MOST_BYTES = 100_000  # of the payload as JSON in UTF-8
MOST_FAULTS = 100
LONGEST_PATH = 200


class Fault(NamedTuple):
    """A value that is wrong: where it is, what it is, and why."""

    field: str
    value: Any
    text: str

    def __str__(self) -> str:
        return f"{self.field}: {self.text}"


def faults(source: Any, kind: Any, dedupe_key: Any, payload: Any) -> list[Fault]:
    """Everything that is wrong with an event of whatever kind; the first hundred."""
    found = [
        *_text_faults("source", source, LONGEST_SOURCE),
        *_kind_faults(kind),
        *([] if dedupe_key is None else _text_faults("dedupe_key", dedupe_key, LONGEST_KEY)),
        *islice(_payload_faults(payload), MOST_FAULTS),
    ]
    return found[:MOST_FAULTS]


def faults_of_kind(kind: Kind, payload: dict[str, Any]) -> list[Fault]:
    """Everything that the checks of its kind find in a payload."""
    found = [fault for check in kind.checks for fault in check(payload)]
    return [Fault(f"payload{path}", payload, reason) for path, reason in found]


def _text_faults(field: str, value: Any, most: int) -> Iterator[Fault]:
    if not isinstance(value, str):
        yield Fault(field, value, _("This must be a text."))
    elif not value:
        yield Fault(field, value, _("This is required."))
    elif len(value) > most:
        facts = {"most": most, "length": len(value)}
        yield Fault(field, value, _("At most %(most)d characters; this has %(length)d.") % facts)
    elif found := text.OBEYED.search(value):
        said = _("It contains a character that can't be shown: %(code)s.")
        yield Fault(field, value, said % {"code": f"U+{ord(found[0]):04X}"})
    elif value != value.strip():
        yield Fault(field, value, _("It must not begin or end with a space."))


def _kind_faults(kind: Any) -> Iterator[Fault]:
    if not isinstance(kind, str) or not NAME.fullmatch(kind):
        yield Fault("kind", kind, _("This must be 1 to 100 of a–z, 0–9, “.”, “_” and “-”."))


def _payload_faults(payload: Any) -> Iterator[Fault]:
    if not isinstance(payload, dict):
        yield Fault("payload", payload, _("This must be a JSON object."))
        return
    is_sound = True
    for path, reason in json_values.faults(payload):
        is_sound = False
        field = f"payload{json_values.path_of(path)}"[:LONGEST_PATH]
        yield Fault(field, "", _("It can’t be stored: it %(reason)s.") % {"reason": reason})
    if is_sound and (size := _size(payload)) > MOST_BYTES:
        facts = {"most": MOST_BYTES, "size": size}
        yield Fault("payload", "", _("At most %(most)d bytes; this has %(size)d.") % facts)


def _size(payload: dict[str, Any]) -> int:
    return len(json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode())
