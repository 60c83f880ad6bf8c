"""Enough of JSON Schema to check an answer against openapi.json."""

import json
import re
from datetime import datetime

from guides.api import DESCRIPTION

KNOWN = {
    *("$ref", "type", "enum", "anyOf", "properties", "required", "additionalProperties", "items"),
    *("description", "minimum", "maximum", "minLength", "maxLength", "maxItems", "pattern"),
    "format",
}
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "boolean": bool,
    "null": type(None),
}
API = json.loads(DESCRIPTION.read_text())


def faults(value, schema, path="answer"):
    """Everything in the value that breaks the schema."""
    assert schema.keys() <= KNOWN, f"{schema.keys() - KNOWN}: not known here"
    if "$ref" in schema:
        return faults(value, API["components"]["schemas"][schema["$ref"].split("/")[-1]], path)
    if "anyOf" in schema:
        tried = [faults(value, each, path) for each in schema["anyOf"]]
        return [] if [] in tried else tried[0]
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if not any(type(value) is TYPES[each] for each in types):
        return [f"{path}: {value!r} is not {types}"]
    return [f"{path}: {fault}" for fault in plain(value, schema)] + inner(value, schema, path)


def plain(value, schema):
    if "enum" in schema and value not in schema["enum"]:
        yield f"{value!r} is none of {schema['enum']}"
    least, most = schema.get("minimum", value), schema.get("maximum", value)
    if isinstance(value, int) and not least <= value <= most:
        yield f"{value} is out of bounds"
    if isinstance(value, str):
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
            yield f"{value[:20]!r}… has {len(value)} characters"
        if not re.search(schema.get("pattern", ""), value):
            yield f"{value!r} is not like {schema['pattern']}"
        if schema.get("format") == "date-time":
            assert datetime.fromisoformat(value).tzinfo
    if isinstance(value, list) and len(value) > schema.get("maxItems", len(value)):
        yield f"it has {len(value)} items"


def inner(value, schema, path):
    found = []
    if isinstance(value, list):
        for n, each in enumerate(value):
            found += faults(each, schema["items"], f"{path}[{n}]")
    if isinstance(value, dict) and "properties" in schema:
        found += [f"{path}: {name} is missing" for name in schema["required"] if name not in value]
        for name, each in value.items():
            if name not in schema["properties"]:
                found.append(f"{path}: {name} is not described")
            else:
                found += faults(each, schema["properties"][name], f"{path}.{name}")
    return found
