"""Answers in words: the same bytes, whichever service wrote them."""

import json

from jobs.db.text import clean
from jobs.paid.clients import Answer


def written(
    *,
    text: str,
    finish: str,
    refusal: str = "",
    model: str = "",
    input_tokens: int | None,
    output_tokens: int | None,
    remote_id: str,
) -> Answer:
    """An answer in words.

    `finish` is "stop" (complete), "length" (cut off at max_tokens), "refused", or the service's
    own word for another end.
    """
    told = {
        "text": text,
        "finish": finish,
        "refusal": refusal,
        "model": model,
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
    }
    return Answer(
        raw=json.dumps(told, sort_keys=True).encode(),
        remote_id=clean(remote_id, 200),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
    )


def count(found: object) -> int | None:
    """A number of tokens from outside; None if it is something else."""
    is_count = isinstance(found, int) and not isinstance(found, bool) and found >= 0
    return found if is_count else None  # type: ignore[return-value]
