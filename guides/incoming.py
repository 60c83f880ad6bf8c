"""A guide from another system: checks everything in it."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from django.core.exceptions import RequestDataTooBig, ValidationError
from django.http import HttpRequest, UnreadablePostError
from django.utils.translation import gettext as _

from guides import validators
from guides.models import Guide, SpotDetail
from guides.replies import MOST_SHOWN, Fault, shown
from guides.strategies import PictureStrategy
from guides.styles import PictureStyle

GUIDE_FIELDS = {
    "plan_id",
    "title",
    "destination",
    "summary",
    "picture_style",
    "picture_strategy",
    "spots",
}
# A change of strategy may double the price, so leaving it out changes nothing.
KEPT = ["picture_strategy"]
SPOT_FIELDS = {"name", "description", "tags"}
DEEPEST = 5  # a guide holds a list of spots that hold lists of tags
MOST_FAULTS = 100  # listed in one reply


class Refused(Exception):
    """The body is not a valid guide; carries the HTTP status and every fault."""

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


class Incoming(NamedTuple):
    """A guide and its spots, checked and not saved."""

    guide: Guide
    spots: list[SpotDetail]
    keep: list[str]  # columns that a known guide keeps, because they were not sent


def read_guide(request: HttpRequest) -> Incoming:
    if request.content_type != "application/json":
        text = _("Send application/json, not %(type)s.") % {"type": shown(request.content_type)}
        raise Refused(415, "not_json", text)
    data = decode(read_body(request))
    reader = Reader()
    guide, spots = reader.guide(data), reader.spots(data.get("spots"))
    if reader.faults:
        reader.refuse()
    return Incoming(guide, spots, [name for name in KEPT if name not in data])


def read_body(request: HttpRequest) -> bytes:
    length = request.META.get("CONTENT_LENGTH") or "0"
    if "Transfer-Encoding" in request.headers and length == "0":
        # Django does not read chunked bodies.
        raise Refused(411, "length_required", _("Send the guide with its Content-Length."))
    if not length.isdecimal() or int(length) > validators.MOST_BYTES:
        too_large()
    try:
        body = request.body
    except RequestDataTooBig:
        too_large()
    except UnreadablePostError:
        text = _("The connection ended before the guide did.")
        raise Refused(400, "unreadable", text) from None
    if len(body) > validators.MOST_BYTES:
        too_large()
    return body


def too_large() -> NoReturn:
    text = _("A guide may have at most %(most)d bytes.") % {"most": validators.MOST_BYTES}
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
        raise Refused(400, "not_json", _("A guide must be a JSON object."))
    if is_deeper(data, DEEPEST):
        raise Refused(400, "invalid", _("The JSON is nested too deeply."))
    return data


def is_deeper(value: Any, most: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict | list) and (
        not most or any(is_deeper(each, most - 1) for each in inner)
    )


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class Reader:
    """Reads a guide from JSON and collects every fault, not only the first."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def guide(self, data: Object) -> Guide:
        self.know(data, GUIDE_FIELDS, "")
        return Guide(
            plan_id=self.text(data, "plan_id", 100, check=validators.validate_plan_id),
            title=self.text(data, "title", validators.LONGEST_TITLE, check=require),
            destination=self.text(data, "destination", validators.LONGEST_TITLE),
            summary=self.text(data, "summary", validators.LONGEST_SUMMARY, lines=True),
            picture_style=self.choice(data, "picture_style", PictureStyle.values),
            picture_strategy=self.choice(data, "picture_strategy", PictureStrategy.values),
        )

    def spots(self, data: Any) -> list[SpotDetail]:
        if not isinstance(data, list) or len(data) > validators.MOST_SPOTS:
            text = _("This must be a list of at most %(most)d spots.") % {
                "most": validators.MOST_SPOTS
            }
            self.fault("spots", data, text)
            return []
        spots = [self.spot(spot, f"spots[{n}]") for n, spot in enumerate(data)]
        seen = set[str]()
        for n, spot in enumerate(spots):
            if spot.spot_name and spot.spot_name in seen:
                self.fault(f"spots[{n}].name", spot.spot_name, _("Another spot has this name."))
            seen.add(spot.spot_name)
        return spots

    def spot(self, data: Any, path: str) -> SpotDetail:
        if not isinstance(data, Object):
            self.fault(path, data, _("A spot must be a JSON object."))
            return SpotDetail()
        self.know(data, SPOT_FIELDS, f"{path}.")
        name, longest = validators.LONGEST_SPOT_NAME, validators.LONGEST_DESCRIPTION
        return SpotDetail(
            spot_name=self.text(data, "name", name, path, check=validators.validate_spot_name),
            description=self.text(data, "description", longest, path, lines=True),
            topic_tags=self.tags(data.get("tags", []), f"{path}.tags"),
        )

    def choice(self, data: Object, name: str, values: list[str]) -> str:
        value = self.text(data, name, validators.LONGEST_TITLE)
        if value not in values:
            known = ", ".join(filter(None, values))
            self.fault(name, value, _("Use one of %(known)s, or leave it out.") % {"known": known})
        return value

    def tags(self, data: Any, path: str) -> list[str]:
        try:
            tags = validators.tidy_tags(data)
            validators.limit_tags(tags)
        except ValidationError as error:
            self.fault(path, data, " ".join(error.messages))
            return []
        return tags

    def text(
        self,
        data: dict[str, Any],
        name: str,
        most: int,
        path: str = "",
        *,
        lines: bool = False,
        check: Callable[[str], None] | None = None,
    ) -> str:
        value = data.get(name, "")
        path = f"{path}.{name}" if path else name
        if not isinstance(value, str):
            self.fault(path, value, _("This must be a text."))
            return ""
        try:
            validators.check_text(value, most, lines=lines)
            if check:
                check(value)
        except ValidationError as error:
            self.fault(path, value, " ".join(error.messages))
        return value.strip()

    def know(self, data: Object, fields: set[str], path: str) -> None:
        for name in data.doubled:
            self.fault(f"{path}{name[:MOST_SHOWN]}", data[name], _("This key is there twice."))
        for name in sorted(data.keys() - fields):
            text = _("Unknown field. The fields are %(known)s.") % {
                "known": ", ".join(sorted(fields))
            }
            self.fault(f"{path}{name[:MOST_SHOWN]}", data[name], text)

    def fault(self, field: str, value: object, text: str) -> None:
        # A reply can't contain lone surrogates.
        clean = field.encode(errors="replace").decode()
        self.faults.append({"field": clean, "value": shown(value), "text": text})
        if len(self.faults) == MOST_FAULTS:
            self.refuse()

    def refuse(self) -> NoReturn:
        raise Refused(400, "invalid", _("The guide has errors."), self.faults)


def require(value: str) -> None:
    if not value.strip():
        raise ValidationError(_("This is required."))
