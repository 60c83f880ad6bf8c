"""Clients of paid services. Each wraps an SDK and turns its errors into those of `jobs.errors`.

A client sends one request, once, within its deadline and its byte cap. It knows nothing about
the queue.
"""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal

MOST_BYTES = 40 * 1024 * 1024  # of an answer: a picture of 30 MB, written as base64
MOST_FILE_BYTES = 4 * 1024**3  # of a file that is saved to disk


# Called just before a request is sent; raises if it is too late to send it.
may_send: ContextVar[Callable[[], None]] = ContextVar("may_send", default=lambda: None)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The bytes that a paid service sent, unchecked."""

    raw: bytes
    remote_id: str = ""  # the service's own id of the request
    cost: Decimal | None = None  # None: the service did not say, so the provider's prices count
    input_tokens: int | None = None  # as the service counted them; None: it did not say
    output_tokens: int | None = None
