"""Requests to the scribe, and its answers checked."""

import json

from jsonschema import Draft202012Validator

from guides.scribe import Scribe

SPOT = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 60},
        "description": {"type": "string"},
        "topic_tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    },
    "required": ["name", "description", "topic_tags"],
    "additionalProperties": False,
}
OUTLINE = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "destination": {"type": "string"},
        "summary": {"type": "string"},
        "language": {"enum": ["en", "ja"]},
        "spots": {"type": "array", "items": SPOT, "minItems": 1},
    },
    "required": ["title", "spots"],
}


def write(prompt="A guide", **request):
    return json.loads(Scribe().write({"prompt": prompt, **request}, 5).raw)


def fill(schema, prompt="A guide"):
    answer = write(prompt, schema=schema)
    assert answer["finish"] == "stop"
    value = json.loads(answer["text"])
    checker = Draft202012Validator.FORMAT_CHECKER
    Draft202012Validator(schema, format_checker=checker).validate(value)
    return value
