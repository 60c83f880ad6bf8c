"""What stands in the lines of files, and in other bodies."""

import base64
import json
from typing import Any

from tests.jobs.clients import answers


def request_in(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def line_request(line: dict[str, Any]) -> dict[str, Any]:
    """The request in a line of either vendor."""
    found: dict[str, Any] = line.get("body") or line.get("request") or {}
    return found


def jsonl(lines: list[Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def unpacked(file: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.splitlines() if line.strip()]


def filled(schema: dict[str, Any]) -> Any:
    """The smallest value that fits a simple schema."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "string")
    if kind == "object":
        return {name: filled(part) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [filled(schema.get("items", {}))] * schema.get("minItems", 1)
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    return {"boolean": True, "null": None}.get(kind, "words")


def picture() -> str:
    return base64.b64encode(answers.png()).decode()
