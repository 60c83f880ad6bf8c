"""For other systems: tell what happened there. `guides/handlers.py` says what follows here."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from config.doors import tokens
from guides import replies, services
from guides.api import refuse_token
from guides.bodies import Object, Reader, Refused, read_json
from jobs import events, queue
from jobs.errors import UnknownEvent
from jobs.events import checks, handlers

FIELDS = {"source", "kind", "dedupe_key", "payload"}
DEEPEST = 66  # the payload alone may have 64


class Told(NamedTuple):
    """An event, checked and not recorded."""

    source: str
    kind: str
    dedupe_key: str | None
    payload: dict[str, Any]


@csrf_exempt  # authorized by a token: unlike a cookie, no other site can make a browser send it
@queue.repeated
def take_event(request: HttpRequest) -> HttpResponseBase:
    """Record an event. Sending it again with its dedupe key changes nothing."""
    if request.method != "POST":
        return replies.not_allowed(request, ["POST"])
    if not tokens.is_open():
        return replies.refusal(403, "closed", _("There is no token: this site takes no events."))
    token = tokens.find(request)
    if token is None:
        return refuse_token(request)
    try:
        told = read_event(request)
    except Refused as refused:
        return replies.refusal(refused.status, refused.code, refused.text, refused.fields)
    recorded = events.record(told.source, told.kind, told.payload, dedupe_key=told.dedupe_key)
    tokens.booked(token, pictures=0)  # for its "last used"
    status = 201 if recorded.is_new else 200
    return replies.JsonReply(event_json(recorded), status=status)


def event_json(recorded: events.Recorded) -> dict[str, Any]:
    """The stored event; if it was known, it may differ from what was sent."""
    event = recorded.event
    return {
        "id": str(event.pk),
        "result": "recorded" if recorded.is_new else "known",
        "same": recorded.is_same,
        "source": event.source,
        "kind": event.kind,
        "dedupe_key": event.dedupe_key,
        "recorded": event.created_at,
    }


def read_event(request: HttpRequest) -> Told:
    """The event in a request; raises Refused, also for a kind that only this site may record."""
    data = read_json(request, DEEPEST)
    reader = EventReader()
    told = reader.event(data)
    if not reader.faults:
        reader.note(checks.faults_of_kind(find_kind(told.kind), told.payload))
    if reader.faults:
        reader.refuse()
    return told


def find_kind(kind: str) -> handlers.Kind:
    try:
        return handlers.find_kind(kind, internal=False)
    except UnknownEvent:
        text = _("Nothing here handles events of the kind %(kind)s. The kinds are: %(known)s.")
        known = ", ".join(handlers.kinds(internal=False))
        text %= {"kind": replies.shown(kind), "known": known}
        raise Refused(404, "not_found", text) from None


class EventReader(Reader):
    """Reads an event from JSON."""

    def summary(self) -> str:
        return _("The event has errors.")

    def event(self, data: Object) -> Told:
        self.know(data, FIELDS, "")
        source, kind = data.get("source", ""), data.get("kind", "")
        told = Told(source, kind, data.get("dedupe_key"), data.get("payload", {}))
        self.note(checks.faults(*told))
        if source == services.SITE:
            self.fault("source", source, _("This is the name of this site’s own events."))
        for path, inner in objects(told.payload, "payload"):
            self.know_doubled(inner, path)
        return told

    def note(self, faults: list[checks.Fault]) -> None:
        for fault in faults:
            self.fault(*fault)


def objects(value: Any, path: str) -> Iterator[tuple[str, Object]]:
    """Every JSON object in a value, and the beginning of the paths of its keys."""
    if isinstance(value, Object):
        path = path[: checks.LONGEST_PATH]
        yield f"{path}.", value
        for key, inner in value.items():
            yield from objects(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from objects(inner, f"{path}[{number}]")
