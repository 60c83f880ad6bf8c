"""Requests to language models, from templates that a person can edit."""

from typing import Any

from django.template.loader import render_to_string

SYSTEM = "guides/prompts/system.txt"


def request(name: str, schema: dict[str, Any], max_tokens: int, **facts: Any) -> dict[str, Any]:
    """The request that templates/guides/prompts/<name>.txt makes of these facts."""
    return {
        "system": render_to_string(SYSTEM).strip(),
        "prompt": render_to_string(f"guides/prompts/{name}.txt", facts).strip(),
        "schema": schema,
        "max_tokens": max_tokens,
    }


def texts(*names: str) -> dict[str, Any]:
    """The schema of an object with these texts, all required.

    Without lengths: not every vendor knows them, and a text that is too long is cut, not bought
    again.
    """
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": list(names),
        "additionalProperties": False,
    }
