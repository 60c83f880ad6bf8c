"""JSON that both databases can store, and where a value stands in it."""

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

Path = tuple[str | int, ...]

DEEPEST = 64  # levels
MOST_BITS = 4_096  # of a whole number: Python writes and reads no number of 4,300 digits


def canonical(value: Any) -> str:
    """The same text for the same JSON; raises if it is no JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def faults(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every value that could not be stored, with its path and the reason."""
    if len(path) > DEEPEST:
        yield path[:3], f"is nested too deeply: at most {DEEPEST} levels"
    elif isinstance(value, str):
        if fault := storing_fault(value):
            yield path, fault
    elif isinstance(value, dict):
        for key, inner in value.items():
            if fault := _key_fault(key):
                yield path, fault
            yield from faults(inner, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from faults(inner, (*path, number))
    elif fault := _plain_fault(value):
        yield path, fault


def storing_fault(text: str) -> str | None:
    """Why PostgreSQL could not store a text; None: it can."""
    if "\x00" in text:
        return "contains NUL, which can't be stored"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"contains half a character ({text[error.start]!r} at {error.start})"
    return None


def _key_fault(key: Any) -> str | None:
    if not isinstance(key, str):
        return f"has the key {key!r:.50}, which is no text"
    fault = storing_fault(key)
    return f"has the key {key!r:.50}, which {fault}" if fault else None


def _plain_fault(value: Any) -> str | None:
    """Why a value that is neither text, object nor list is no JSON."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return "is too large a number" if value.bit_length() > MOST_BITS else None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"is {value}, which is no JSON"
    return f"is no JSON: {type(value).__name__}"


def path_of(steps: Iterable[str | int]) -> str:
    """The path to a value, as a person would write it: `.spots[2].name`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
