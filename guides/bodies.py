"""JSON that another system sends, and everything that is wrong with it."""

import json
from collections import Counter
from typing import Any, NoReturn

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, UnreadablePostError
from django.utils.translation import gettext as _

from guides import validators
from guides.replies import MOST_SHOWN, Fault, shown

MOST_FAULTS = 100  # listed in one reply


class Refused(Exception):
    """The body can't be taken; carries the HTTP status and every fault."""

    def __init__(self, status: int, code: str, text: str, fields: list[Fault] | None = None):
        super().__init__(text)
        self.status, self.code, self.text, self.fields = status, code, text, fields


class Object(dict[str, Any]):
    """An object of JSON that knows which keys it had twice: programs differ in which one wins."""

    doubled: list[str]

    @classmethod
    def of(cls, pairs: list[tuple[str, Any]]) -> "Object":
        read = cls(pairs)
        read.doubled = []
        if len(read) < len(pairs):
            times = Counter(name for name, _ in pairs)
            read.doubled = [name for name in read if times[name] > 1]
        return read


def read_json(request: HttpRequest, deepest: int) -> Object:
    """The JSON object in a request's body, nested at most this deep; raises Refused."""
    if request.content_type != "application/json":
        text = _("Send application/json, not %(type)s.") % {"type": shown(request.content_type)}
        raise Refused(415, "not_json", text)
    data = decode(read_body(request))
    if is_deeper(data, deepest):
        raise Refused(400, "invalid", _("The JSON is nested too deeply."))
    return data


def read_body(request: HttpRequest) -> bytes:
    length = request.META.get("CONTENT_LENGTH") or "0"
    if "Transfer-Encoding" in request.headers and length == "0":
        # Django does not read chunked bodies.
        raise Refused(411, "length_required", _("Send the request with its Content-Length."))
    if not length.isdecimal() or int(length) > validators.MOST_BYTES:
        too_large()
    try:
        body = request.body
    except RequestDataTooBig:
        too_large()
    except UnreadablePostError:
        text = _("The connection ended before the request did.")
        raise Refused(400, "unreadable", text) from None
    if len(body) > validators.MOST_BYTES:
        too_large()
    return body


def too_large() -> NoReturn:
    text = _("A request has at most %(most)d bytes.") % {"most": validators.MOST_BYTES}
    raise Refused(413, "too_large", text)


def decode(body: bytes) -> Object:
    try:
        data = json.loads(
            body.decode(), parse_constant=refuse_constant, object_pairs_hook=Object.of
        )
    except (ValueError, RecursionError) as error:
        text = _("This is not JSON: %(error)s") % {"error": str(error)[:MOST_SHOWN]}
        raise Refused(400, "not_json", text) from None
    if not isinstance(data, Object):
        raise Refused(400, "not_json", _("This must be a JSON object."))
    return data


def is_deeper(value: Any, most: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict | list) and (
        not most or any(is_deeper(each, most - 1) for each in inner)
    )


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class Reader:
    """Reads what was sent and collects every fault, not only the first."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def know(self, data: Object, fields: set[str], path: str) -> None:
        """Note the keys that are there twice, and those that are none of these fields."""
        self.know_doubled(data, path)
        for name in sorted(data.keys() - fields):
            text = _("Unknown field. The fields are %(known)s.") % {
                "known": ", ".join(sorted(fields))
            }
            self.fault(f"{path}{name[:MOST_SHOWN]}", data[name], text)

    def know_doubled(self, data: Object, path: str) -> None:
        for name in data.doubled:
            self.fault(f"{path}{name[:MOST_SHOWN]}", data[name], _("This key is there twice."))

    def fault(self, field: str, value: object, text: str) -> None:
        # A reply can't contain lone surrogates.
        clean = field.encode(errors="replace").decode()
        self.faults.append({"field": clean, "value": shown(value), "text": text})
        if len(self.faults) == MOST_FAULTS:
            self.refuse()

    def refuse(self) -> NoReturn:
        raise Refused(400, "invalid", self.summary(), self.faults)

    def summary(self) -> str:
        """One sentence for a body with faults."""
        raise NotImplementedError
