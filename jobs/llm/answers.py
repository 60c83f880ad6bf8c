"""Checking answers. Whatever a model wrote, what leaves here can be stored, and is as asked for."""

import json
import math
from typing import Any, NoReturn

from jobs.db import text
from jobs.errors import GarbageAnswer, PermanentError, RequestRefused
from jobs.llm import schemas

COMPLETE = ("stop", "")  # the words of `finish`; some local servers say nothing
DEEPEST = 64  # levels of an answer
MOST_TOKENS = 2**53


class CutOff(PermanentError):
    """The answer is longer than allowed. It is paid, and the same limit would cut it off again."""


def checked(raw: bytes, request: dict[str, Any]) -> dict[str, Any]:
    """What is kept of an answer; raises if it is cut off, refused, empty or not as asked for."""
    told = _envelope(raw)
    words, finish = told["text"], told.get("finish") or ""
    if finish == "length":
        limit = request["max_tokens"]
        raise CutOff(f"The answer was cut off: raise max_tokens={limit} and submit it again.")
    if finish == "refused" or told.get("refusal"):
        reason = told.get("refusal") or "no reason given"
        raise RequestRefused(f"The model refused to answer: {text.clean(reason, 1000)}")
    if not words.strip():
        raise GarbageAnswer("The answer is empty.")
    if finish not in COMPLETE:
        raise GarbageAnswer(f"The answer is not complete: it ended with {finish!r:.100}.")
    kept = {
        "text": _storable(words),
        "model": text.clean(told.get("model") or "", 200),
        "input_tokens": _number(told.get("input_tokens")),
        "output_tokens": _number(told.get("output_tokens")),
    }
    if "schema" in request:
        kept["data"] = _data(words, request["schema"])
    return kept


def _envelope(raw: bytes) -> dict[str, Any]:
    """The answer as the clients write it, whatever the vendor."""
    told = _parsed(raw.decode(errors="replace"))
    if not isinstance(told, dict) or not isinstance(told.get("text"), str):
        raise GarbageAnswer(f"The answer has no text: {text.clean(raw[:200])}")
    return told


def _data(words: str, schema: Any) -> Any:
    data = _cleaned(_parsed(words), DEEPEST)
    try:
        fault = schemas.fault(schema, data)
    except (RecursionError, OverflowError) as error:
        fault = f"answer: it can't be checked ({error})"
    if fault:
        raise GarbageAnswer(f"The answer does not fit its schema. {fault}")
    return data


def _parsed(words: str) -> Any:
    try:
        return json.loads(words, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        start = text.clean(words[:200])
        raise GarbageAnswer(f"The answer is no JSON ({error}): {start}") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits:.50} is too large")
    return number


def _cleaned(value: Any, levels: int) -> Any:
    """Without what PostgreSQL can't store in JSON: NUL and half characters."""
    if isinstance(value, str):
        return _storable(value)
    if not levels and isinstance(value, dict | list):
        raise GarbageAnswer(f"The answer is nested too deeply: at most {DEEPEST} levels.")
    if isinstance(value, dict):
        return {_storable(key): _cleaned(inner, levels - 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_cleaned(inner, levels - 1) for inner in value]
    return value


def _storable(words: str) -> str:
    return text.clean(words, 4 * len(words))


def _number(tokens: Any) -> int | None:
    is_number = isinstance(tokens, int) and not isinstance(tokens, bool)
    return tokens if is_number and 0 <= tokens < MOST_TOKENS else None
