"""Lines of result files, as the services wrote them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jobs.errors import GarbageAnswer, PermanentError, ProviderUnavailable
from jobs.paid.clients import MOST_BYTES, Answer
from jobs.paid.clients.batch import Result
from jobs.paid.clients.faults import Faults

Read = Callable[[dict[str, Any]], Answer]  # raises the line's error


def results(file: Path, name: str, faults: Faults, read: Read) -> Iterator[Result]:
    """What each line says; `name` is the field with its key."""
    for line in objects(file):
        key = line.get(name)
        if isinstance(key, str) and key:
            yield result(key, line, faults, read)


def result(key: str, line: dict[str, Any], faults: Faults, read: Read) -> Result:
    try:
        return Result(key=key, answer=read(line))
    except (GarbageAnswer, PermanentError, ProviderUnavailable) as error:
        return Result(key=key, error=error)
    except Exception:  # an SDK may raise anything over a strange line
        text = json.dumps(line)[:1_000]
        return Result(key=key, error=faults.garbage("JSON of another shape", text))


def objects(file: Path, most_bytes: int = 2 * MOST_BYTES) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file, a line each; what is broken or far too long is left out."""
    with file.open("rb") as opened:
        while line := opened.readline(most_bytes):
            rest = line
            while rest and not rest.endswith(b"\n"):  # the line is too long, or the last
                rest = opened.readline(most_bytes)
            if found := an_object(line):
                yield found


def an_object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
