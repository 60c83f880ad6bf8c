"""A guide as another system hands it over: who may, and whether it can be taken as it is."""

import json
from collections.abc import Callable
from typing import Any, NoReturn

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, ValidationError
from django.http import HttpRequest, UnreadablePostError
from django.utils.crypto import constant_time_compare

from guides import limits, names
from guides.answers import Fault
from guides.models import Guide, SpotDetail
from guides.styles import PictureStyle

GUIDE_FIELDS = {"plan_id", "title", "destination", "summary", "picture_style", "spots"}
SPOT_FIELDS = {"name", "description", "tags"}
MOST_SHOWN = 80  # characters of a wrong value, said back


class Refused(Exception):
    """What was sent is not a guide; says so with an HTTP status, and names every fault."""

    def __init__(self, status: int, code: str, text: str, fields: list[Fault] | None = None):
        super().__init__(text)
        self.status, self.code, self.text, self.fields = status, code, text, fields


def is_open() -> bool:
    """An empty token would be everybody's."""
    return bool(settings.API_TOKEN)


def is_known(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer" and constant_time_compare(token.strip(), settings.API_TOKEN)


def read_guide(request: HttpRequest) -> tuple[Guide, list[SpotDetail]]:
    """The guide and its spots, checked and not saved."""
    if request.content_type != "application/json":
        raise Refused(415, "not_json", f"Send application/json, not {request.content_type!r}.")
    data = decode(read_body(request))
    reader = Reader()
    guide, spots = reader.guide(data), reader.spots(data.get("spots"))
    if reader.faults:
        raise Refused(400, "invalid", "The guide can't be taken as it is.", reader.faults)
    return guide, spots


def read_body(request: HttpRequest) -> bytes:
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > limits.MOST_BYTES:
        too_large()
    try:
        body = request.body
    except RequestDataTooBig:
        too_large()
    except UnreadablePostError:
        raise Refused(400, "unreadable", "The connection ended before the guide did.") from None
    if len(body) > limits.MOST_BYTES:
        too_large()
    return body


def too_large() -> NoReturn:
    raise Refused(413, "too_large", f"A guide has at most {limits.MOST_BYTES} bytes.")


def decode(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body.decode(), parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Refused(400, "not_json", f"This is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise Refused(400, "not_json", "A guide is an object.")
    return data


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


class Reader:
    """Takes a guide out of JSON and notes every fault it meets, not only the first."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def guide(self, data: dict[str, Any]) -> Guide:
        self.know(data, GUIDE_FIELDS, "")
        style = self.text(data, "picture_style", limits.LONGEST_TITLE)
        if style not in PictureStyle.values:
            known = ", ".join(filter(None, PictureStyle.values))
            self.fault("picture_style", style, f"Known are {known}, or nothing.")
        return Guide(
            plan_id=self.text(data, "plan_id", 100, check=names.validate_plan_id),
            title=self.text(data, "title", limits.LONGEST_TITLE, check=require),
            destination=self.text(data, "destination", limits.LONGEST_TITLE),
            summary=self.text(data, "summary", limits.LONGEST_SUMMARY, lines=True),
            picture_style=style,
        )

    def spots(self, data: Any) -> list[SpotDetail]:
        if not isinstance(data, list) or len(data) > limits.MOST_SPOTS:
            text = f"This is a list of at most {limits.MOST_SPOTS} spots."
            self.fault("spots", data, text)
            return []
        spots = [self.spot(spot, f"spots[{n}]") for n, spot in enumerate(data)]
        seen = set[str]()
        for n, spot in enumerate(spots):
            if spot.spot_name and spot.spot_name in seen:
                self.fault(f"spots[{n}].name", spot.spot_name, "Another spot has this name.")
            seen.add(spot.spot_name)
        return spots

    def spot(self, data: Any, path: str) -> SpotDetail:
        if not isinstance(data, dict):
            self.fault(path, data, "A spot is an object.")
            return SpotDetail()
        self.know(data, SPOT_FIELDS, f"{path}.")
        name, longest = names.LONGEST_SPOT_NAME, limits.LONGEST_DESCRIPTION
        return SpotDetail(
            spot_name=self.text(data, "name", name, path, check=names.validate_spot_name),
            description=self.text(data, "description", longest, path, lines=True),
            topic_tags=self.tags(data.get("tags", []), f"{path}.tags"),
        )

    def tags(self, data: Any, path: str) -> list[str]:
        try:
            tags = names.tidy_tags(data)
        except ValidationError as error:
            self.fault(path, data, " ".join(error.messages))
            return []
        if len(tags) > limits.MOST_TAGS:
            self.fault(path, data, f"A spot has at most {limits.MOST_TAGS} tags.")
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
            self.fault(path, value, "This is a text.")
            return ""
        try:
            limits.check_text(value, most, lines=lines)
            if check:
                check(value)
        except ValidationError as error:
            self.fault(path, value, " ".join(error.messages))
        return value.strip()

    def know(self, data: dict[str, Any], fields: set[str], path: str) -> None:
        for name in sorted(data.keys() - fields):
            text = f"Unknown. Known are {', '.join(sorted(fields))}."
            self.fault(f"{path}{name[:MOST_SHOWN]}", data[name], text)

    def fault(self, field: str, value: object, text: str) -> None:
        shown = ascii(value) if isinstance(value, str) else json.dumps(value)
        # Lone surrogates could not be sent back.
        clean = field.encode(errors="replace").decode()
        self.faults.append({"field": clean, "value": shown[:MOST_SHOWN], "text": text})


def require(value: str) -> None:
    if not value.strip():
        raise ValidationError("This is needed.")
