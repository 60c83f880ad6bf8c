"""One chain of requests for the whole site: each works for a while, then calls the next.

The row of the chain has a token, and every request replaces it. So a request that arrives twice
counts once, and one that was frozen for too long no longer holds the chain.
"""

import secrets
from datetime import timedelta

from django.db.models import F, QuerySet
from django.db.models.functions import Now

from jobs.models import Chain

SLACK = 30.0  # seconds, for a slow start of the next request
MOST_IDLE = 3  # requests in a row that end no job; jobs that only snooze would never stop


def begin(seconds: float) -> str | None:
    """Begin the chain, with a request of this many seconds; None: there is one already."""
    Chain.objects.bulk_create([Chain()], ignore_conflicts=True)
    free = Chain.objects.filter(expires_at__lte=Now())
    return _take(free, seconds, idle=0)


def go_on(token: str, seconds: float) -> str | None:
    """Take the chain over from the request that sent this token; None: it is taken or over."""
    return _take(_held(token), seconds)


def may_go_on(token: str, *, is_idle: bool) -> bool:
    """Whether to send the next request; counts the requests that ended no job."""
    idle = F("idle") + 1 if is_idle else 0
    held = _held(token)
    held.update(idle=idle, expires_at=Now() + timedelta(seconds=SLACK))
    return held.filter(idle__lt=MOST_IDLE).exists()


def is_taken(token: str) -> bool:
    return not _held(token).exists()


def end(token: str) -> None:
    _held(token).update(token="", expires_at=Now())


def _held(token: str) -> QuerySet[Chain]:
    return Chain.objects.filter(token=token, expires_at__gt=Now())


def _take(chain: QuerySet[Chain], seconds: float, **columns: int) -> str | None:
    token = secrets.token_hex(16)
    expires_at = Now() + timedelta(seconds=seconds + SLACK)
    return token if chain.update(token=token, expires_at=expires_at, **columns) else None
