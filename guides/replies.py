"""The API's replies: always JSON, errors too."""

import json
import math
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext as _

Fault = dict[str, str]
MOST_SHOWN = 80  # characters of a wrong value that a reply quotes


class JsonReply(JsonResponse):
    def __init__(self, data: Any, **kwargs: Any) -> None:
        super().__init__(data, json_dumps_params={"ensure_ascii": False}, **kwargs)
        self.headers.setdefault("Cache-Control", "no-cache")


def refusal(status: int, code: str, text: str, fields: list[Fault] | None = None) -> JsonReply:
    """An error reply: a code for programs, a sentence for people, and the fields at fault."""
    error: dict[str, Any] = {"code": code, "text": text}
    if fields is not None:
        error["fields"] = fields
    return JsonReply({"error": error}, status=status)


def later(seconds: float, code: str, text: str) -> JsonReply:
    """A refusal that ends by itself."""
    reply = refusal(429, code, text)
    reply.headers["Retry-After"] = str(math.ceil(seconds))
    return reply


def not_found(text: str) -> JsonReply:
    return refusal(404, "not_found", text)


def not_allowed(request: HttpRequest, allowed: list[str]) -> JsonReply:
    text = _("%(method)s is not allowed here. Use %(allowed)s.") % {
        "method": shown(request.method),
        "allowed": ", ".join(allowed),
    }
    reply = refusal(405, "method_not_allowed", text)
    reply.headers["Allow"] = ", ".join(allowed)
    return reply


def shown(value: object) -> str:
    """The beginning of a wrong value, escaped so that it can always be sent."""
    if isinstance(value, str):
        return ascii(value[:MOST_SHOWN])[:MOST_SHOWN]
    return json.dumps(value)[:MOST_SHOWN]
