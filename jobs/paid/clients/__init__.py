"""Paid services, each with its SDK's calls and errors turned into ours.

A client sends one request, once, within its deadline and its byte cap. It knows nothing of
the queue: what its errors mean is said in `jobs.errors`.
"""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal

MOST_BYTES = 40 * 1024 * 1024  # of an answer: a picture of 30 MB, written as base64


# Asked in the moment before a request leaves us; raises if it must not leave any more.
may_send: ContextVar[Callable[[], None]] = ContextVar("may_send", default=lambda: None)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a paid service sent: the bytes that were asked for, unchecked."""

    raw: bytes
    remote_id: str = ""  # the service's own name for the request
    cost: Decimal | None = None  # None: it did not say, so the provider's price holds
