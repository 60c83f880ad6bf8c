"""JSON Schemas of answers, each compiled once. No reference leaves the schema itself."""

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

REFERENCES = ("$ref", "$dynamicRef")
DEEPEST = 64  # levels


class WrongSchema(ValueError):
    """No answer could be checked with this schema."""

    def __init__(self, path: Iterable[str | int], reason: str) -> None:
        super().__init__(reason)
        self.path = path_of(path)


def canonical(value: Any) -> str:
    """The same text for the same JSON; raises if it is no JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


@lru_cache(maxsize=256)
def compiled(schema: str) -> Draft202012Validator:
    """The validator of a schema, given as canonical text; raises WrongSchema."""
    contents = json.loads(schema)
    try:
        _check_texts(contents, [])
        Draft202012Validator.check_schema(contents)
        _check_references(contents)
        validator = Draft202012Validator(contents, registry=Registry())
        validator.is_valid(None)  # a reference to itself alone never ends
    except SchemaError as error:
        raise WrongSchema(error.path, error.message) from error
    except Unresolvable as error:
        raise WrongSchema([], f"nothing is at {error.ref!r}, and no address is opened") from error
    except RecursionError as error:
        raise WrongSchema([], "it is nested too deeply, or refers to itself without end") from error
    return validator


def _check_texts(value: Any, path: list[str | int]) -> None:
    """Check what PostgreSQL must store; JSON itself allows more."""
    if len(path) > DEEPEST:
        raise WrongSchema(path[:3], f"is nested too deeply: at most {DEEPEST} levels")
    if isinstance(value, str) and (fault := storing_fault(value)):
        raise WrongSchema(path, fault)
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_texts(key, path)
            _check_texts(inner, [*path, key])
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _check_texts(inner, [*path, number])


def storing_fault(text: str) -> str | None:
    """Why PostgreSQL could not store a text; None: it can."""
    if "\x00" in text:
        return "contains NUL, which can't be stored"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"contains half a character ({text[error.start]!r} at {error.start})"
    return None


def _check_references(contents: Any) -> None:
    """Find a missing reference now: an answer would meet it only after it was paid."""
    root = DRAFT202012.create_resource(contents)
    _check_subschema(root, Registry().resolver_with_root(root))


def _check_subschema(resource: Resource[Any], resolver: Any) -> None:
    for name in REFERENCES:
        if isinstance(resource.contents, dict) and name in resource.contents:
            resolver.lookup(resource.contents[name])
    for inner in resource.subresources():
        _check_subschema(inner, resolver.in_subresource(inner))


def fault(schema: Any, answer: Any) -> str | None:
    """What is wrong with an answer, with the path of the value; None: nothing."""
    error: ValidationError | None = best_match(compiled(canonical(schema)).iter_errors(answer))
    if error is None:
        return None
    return f"answer{path_of(error.absolute_path)}: {error.message}"


def path_of(steps: Iterable[str | int]) -> str:
    """The path to a value, as a person would write it: `.spots[2].name`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
