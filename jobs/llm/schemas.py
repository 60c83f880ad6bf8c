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

from jobs.db import json_values
from jobs.db.json_values import canonical, path_of

REFERENCES = ("$ref", "$dynamicRef")


class WrongSchema(ValueError):
    """No answer could be checked with this schema."""

    def __init__(self, path: Iterable[str | int], reason: str) -> None:
        super().__init__(reason)
        self.path = path_of(path)


@lru_cache(maxsize=256)
def compiled(schema: str) -> Draft202012Validator:
    """The validator of a schema, given as canonical text; raises WrongSchema."""
    contents = json.loads(schema)
    try:
        _check_texts(contents)
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


def _check_texts(contents: Any) -> None:
    """Check what PostgreSQL must store; JSON itself allows more."""
    for path, reason in json_values.faults(contents):
        raise WrongSchema(path, reason)


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
