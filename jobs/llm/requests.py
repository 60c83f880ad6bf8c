"""Requests as every vendor gets them, checked before anything of them is kept.

system       str, what the model should always mind
prompt       str; or messages: a list of {"role": "user" or "assistant", "content": str}
schema       JSON Schema of the answer; without it the answer is plain text
max_tokens   int, the longest answer
temperature  number from 0 to 2
"""

import hashlib
import json
import math
from collections.abc import Callable
from typing import Any

from jobs.db.json_values import canonical, storing_fault
from jobs.llm import schemas
from jobs.llm.schemas import WrongSchema

MOST_BYTES = 4 * 1024 * 1024  # of all texts of one request, and its schema
MOST_TOKENS = 1_000_000
HOTTEST = 2
ROLES = ("user", "assistant")


class InvalidRequest(ValueError):
    """A request is not as `jobs.llm.requests` describes it. The text begins with the path."""


def checked(request: Any, path: str) -> tuple[dict[str, Any], int]:
    """The request as it is kept, and its bytes; raises InvalidRequest with the path of the value.

    Written by hand: a JSON Schema for it takes 20 times as long, and says less.
    """
    if not isinstance(request, dict):
        raise InvalidRequest(f"{path}: must be a dict, not {_type(request)}")
    kept: dict[str, Any] = {}
    size = 0
    for key, value in request.items():
        check = CHECKS.get(key) if isinstance(key, str) else None
        if check is None:
            raise InvalidRequest(f"{path}: unknown key {key!r:.50}: known are {', '.join(CHECKS)}")
        kept[key], bytes_of_it = check(value, f"{path}.{key}")
        size += bytes_of_it
    if ("prompt" in kept) == ("messages" in kept):
        raise InvalidRequest(f"{path}: must have either a prompt or messages")
    if size > MOST_BYTES:
        raise InvalidRequest(f"{path}: {size:,} bytes are too many: at most {MOST_BYTES:,}")
    return kept, size


def payload_hash(request: dict[str, Any], provider: str) -> str:
    """Names what is bought: the request with its schema, from this service and model."""
    return hashlib.sha256(canonical([provider, request]).encode()).hexdigest()


def most_input_tokens(request: dict[str, Any]) -> int:
    """An upper bound: no tokenizer makes more than one token of a byte."""
    return len(json.dumps(request, ensure_ascii=False).encode())


# One function for each key: its value as it is kept, and how many bytes it adds


def _text(value: Any, path: str) -> tuple[str, int]:
    if not isinstance(value, str):
        raise InvalidRequest(f"{path}: must be a text, not {_type(value)}")
    return value, _size(value, path)


def _said(value: Any, path: str) -> tuple[str, int]:
    text, size = _text(value, path)
    if not text or text.isspace():
        raise InvalidRequest(f"{path}: must not be empty")
    return text, size


def _messages(value: Any, path: str) -> tuple[list[dict[str, str]], int]:
    if not isinstance(value, list | tuple) or not value:
        raise InvalidRequest(f"{path}: must be a list of messages, not {_type(value)}")
    size = 0
    for number, message in enumerate(value):
        size += _message(message, f"{path}[{number}]")
    return [dict(message) for message in value], size


def _message(message: Any, path: str) -> int:
    if not isinstance(message, dict):
        raise InvalidRequest(f"{path}: must be a dict, not {_type(message)}")
    for key in message:
        if key not in ("role", "content"):
            raise InvalidRequest(f"{path}: unknown key {key!r:.50}: known are role, content")
    if message.get("role") not in ROLES:
        role = message.get("role")
        raise InvalidRequest(f"{path}.role: must be {' or '.join(ROLES)}, not {role!r:.50}")
    return _said(message.get("content"), f"{path}.content")[1]


def _schema(value: Any, path: str) -> tuple[dict[str, Any], int]:
    if not isinstance(value, dict) or not value:
        raise InvalidRequest(f"{path}: must be a JSON Schema (a dict), not {_type(value)}")
    try:
        text = canonical(value)
        kept: dict[str, Any] = schemas.compiled(text).schema  # type: ignore[assignment]
    except WrongSchema as error:
        raise InvalidRequest(f"{path}{error.path}: {error}") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"{path}: is no JSON: {error}") from error
    return kept, len(text)


def _max_tokens(value: Any, path: str) -> tuple[int, int]:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST_TOKENS:
        raise InvalidRequest(
            f"{path}: must be a whole number from 1 to {MOST_TOKENS:,}, not {value!r:.50}"
        )
    return value, 0


def _temperature(value: Any, path: str) -> tuple[float, int]:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not 0 <= value <= HOTTEST:
        raise InvalidRequest(f"{path}: must be a number from 0 to {HOTTEST}, not {value!r:.50}")
    return value, 0


def _size(text: str, path: str) -> int:
    if fault := storing_fault(text):
        raise InvalidRequest(f"{path}: {fault}")
    return len(text) if text.isascii() else len(text.encode())


def _type(value: Any) -> str:
    is_empty = isinstance(value, dict | list | tuple) and not value
    return f"an empty {type(value).__name__}" if is_empty else type(value).__name__


CHECKS: dict[str, Callable[[Any, str], tuple[Any, int]]] = {
    "system": _text,
    "prompt": _said,
    "messages": _messages,
    "schema": _schema,
    "max_tokens": _max_tokens,
    "temperature": _temperature,
}
