"""The answers of the API: JSON, also when something is wrong."""

from typing import Any

from django.http import HttpRequest, JsonResponse

Fault = dict[str, str]


class JsonAnswer(JsonResponse):
    def __init__(self, data: Any, **kwargs: Any) -> None:
        super().__init__(data, json_dumps_params={"ensure_ascii": False}, **kwargs)
        self.headers.setdefault("Cache-Control", "no-cache")


def refusal(status: int, code: str, text: str, fields: list[Fault] | None = None) -> JsonAnswer:
    """What went wrong: a word for programs, a sentence for people, and the fields it is about."""
    error: dict[str, Any] = {"code": code, "text": text}
    if fields is not None:
        error["fields"] = fields
    return JsonAnswer({"error": error}, status=status)


def not_found(text: str = "There is nothing here.") -> JsonAnswer:
    return refusal(404, "not_found", text)


def not_allowed(request: HttpRequest, allowed: list[str]) -> JsonAnswer:
    text = f"{request.method!r} is not possible here, only {', '.join(allowed)}."
    answer = refusal(405, "method_not_allowed", text)
    answer.headers["Allow"] = ", ".join(allowed)
    return answer
