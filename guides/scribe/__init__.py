"""The scribe: answers any request by itself, without a key and without a network.

The same request gives the same answer, in every process.
"""

import json
import time
from typing import Any

from django.conf import settings

from guides.scribe import brief, filling
from guides.scribe.words import Words
from jobs.paid.clients import Answer

# A word for demonstrations: the scribe refuses a prompt that contains it.
UNWRITABLE = "unwritable"
BYTES_PER_TOKEN = 4


class Scribe:
    """A writer of `jobs.llm`: no key, no network, no cost."""

    name = "scribe"
    model = ""
    is_free = True

    def check_setup(self) -> None: ...

    def write(self, request: dict[str, Any], timeout: float) -> Answer:
        told = brief.told(request)
        if UNWRITABLE in told:
            raise Unwritable(f"The scribe can't write this: its prompt says {UNWRITABLE!r}.")
        time.sleep(settings.SCRIBE_SECONDS)
        text, finish = cut(answer(request), request.get("max_tokens"))
        read, written = count_tokens(told), count_tokens(text)
        said = {
            "text": text,
            "finish": finish,
            "refusal": "",
            "model": self.name,
            "input_tokens": read,
            "output_tokens": written,
        }
        raw = json.dumps(said, sort_keys=True, ensure_ascii=False).encode()
        return Answer(raw=raw, input_tokens=read, output_tokens=written)


class Unwritable(Exception):
    """For demonstrations: a provider's fault with one request."""

    billed = False


def answer(request: dict[str, Any]) -> str:
    words = Words(brief.read(request))
    schema = request.get("schema")
    if schema is None:
        return words.letter()
    return json.dumps(filling.fill(schema, words), ensure_ascii=False)


def cut(text: str, max_tokens: int | None) -> tuple[str, str]:
    """The text and how it ended: a limit that is too small cuts it off, as any model's does."""
    if max_tokens is None or count_tokens(text) <= max_tokens:
        return text, "stop"
    return text.encode()[: max_tokens * BYTES_PER_TOKEN].decode(errors="ignore"), "length"


def count_tokens(text: str) -> int:
    """Roughly as models count: four letters, or one or two Japanese characters."""
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)
