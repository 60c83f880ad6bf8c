"""Responses kept in this process's memory, so that a crowd on one page costs one rendering.

docs/pages.md says what is kept, for whom, and how it goes out of date.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from time import monotonic
from typing import Any, TypeGuard, TypeVar

from django.conf import settings
from django.db import Error
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.http.response import ResponseHeaders
from django.utils.cache import get_max_age
from django.utils.translation import get_language

STATUSES = (200, 204, 286, 304)  # 286: htmx stops polling. Errors are not kept.
LEAST_SECONDS = 1  # until what changes with the clock, or with other rows, is rendered anew
# Seconds to wait for another thread that renders the same page, or to give the old one meanwhile.
PATIENCE = 0.5
OVERHEAD = 2_000  # bytes of a response without its body: its headers and Python's objects
LARGEST = 1 / 16  # of the memory, for one response
TURNS = 256

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


@dataclass(frozen=True)
class Kept:
    """A response as its view returned it; middleware adds to a copy of it."""

    revision: str
    until: float  # by the monotonic clock
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def size(self) -> int:
        return len(self.body) + OVERHEAD

    def respond(self) -> HttpResponse:
        response = HttpResponse(self.body, status=self.status)
        response.headers = ResponseHeaders(self.headers)
        return response


class Memory:
    """The responses used last, up to a number of bytes."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.responses: OrderedDict[bytes, Kept] = OrderedDict()
        self.size = 0
        self.turns = [threading.Lock() for _ in range(TURNS)]

    def find(self, key: bytes, revision: str, patience: float = 0.0) -> Kept | None:
        """What is kept of this revision, unless its time was over for longer than `patience`."""
        with self.lock:
            found = self.responses.get(key)
            if found is None or found.revision != revision:
                return None
            if found.until + patience < monotonic():
                return None
            self.responses.move_to_end(key)
            return found

    def keep(self, key: bytes, kept: Kept) -> None:
        most = settings.PAGE_MEMORY_MB * 1_000_000
        with self.lock:
            if before := self.responses.pop(key, None):
                self.size -= before.size
            if kept.size > most * LARGEST:
                return
            self.responses[key] = kept
            self.size += kept.size
            while self.size > most:
                self.size -= self.responses.popitem(last=False)[1].size

    def patience(self, key: bytes) -> float:
        """How old the page may be beyond its time: not at all, unless a thread renders it anew.

        The turn is shared, so the thread may be rendering another page.
        """
        return PATIENCE if self.turns[key[0]].locked() else 0.0

    @contextmanager
    def turn(self, key: bytes) -> Iterator[None]:
        """Let one thread render a page, while those that want the same wait for it.

        Not for long: then they render it too, so that nobody ever hangs on another's request. Of
        other pages, one of 256 waits as well. Meanwhile a page that is at most `PATIENCE` too old
        is given as it is.
        """
        turn = self.turns[key[0]]
        is_mine = turn.acquire(timeout=PATIENCE)
        try:
            yield
        finally:
            if is_mine:
                turn.release()


memory = Memory()


def kept(
    revision: Callable[..., str], *, query: Sequence[str] = (), headers: Sequence[str] = ()
) -> Callable[[View], View]:
    """Keep what this view returns for as long as `revision` returns the same for its arguments.

    `query` and `headers` name everything of a request that the view looks at, besides its path,
    host and language.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def answer(request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponseBase:
            current = revision(request, *arguments, **options) if may_keep(request) else ""
            if not current:
                return view(request, *arguments, **options)
            key = key_of(request, query, headers)
            if found := memory.find(key, current, memory.patience(key)):
                return found.respond()
            with memory.turn(key):
                if found := memory.find(key, current):
                    return found.respond()
                response = view(request, *arguments, **options)
                if is_fit(response) and is_still(current, request, *arguments, **options):
                    memory.keep(key, kept_from(response, current))
                return response

        def is_still(before: str, *arguments: Any, **options: Any) -> bool:
            """Whether no row changed while the page was rendered: it may show either version."""
            try:
                return revision(*arguments, **options) == before
            except Error:  # the page is there already
                return False

        return answer  # type: ignore[return-value]

    return decorate


def may_keep(request: HttpRequest) -> bool:
    is_on = bool(settings.PAGE_MEMORY_MB)
    return is_on and request.method == "GET" and is_stranger(request)


def is_stranger(request: HttpRequest) -> bool:
    """Whether the page is the same for all such visitors: cookies and tokens may open more.

    So may a header of a proxy that signs people in. Its first request has no cookie yet, but a
    session that is new.
    """
    session = getattr(request, "session", None)
    is_new = session is not None and session.modified
    return not (request.COOKIES or request.headers.get("Authorization") or is_new)


def key_of(request: HttpRequest, query: Sequence[str], headers: Sequence[str]) -> bytes:
    """A hash, so that long addresses take no memory."""
    site = request.scheme, request.get_host(), request.META.get("SERVER_PORT")
    asked = [request.GET.getlist(name) for name in query]
    told = [request.headers.get(name) for name in headers]
    facts = repr((site, request.path, get_language(), asked, told))
    return hashlib.blake2b(facts.encode(errors="surrogatepass"), digest_size=16).digest()


def is_fit(response: HttpResponseBase) -> TypeGuard[HttpResponse]:
    is_whole = isinstance(response, HttpResponse) and not response.cookies
    return is_whole and response.status_code in STATUSES


def kept_from(response: HttpResponse, revision: str) -> Kept:
    """As long as a browser may keep it, and at least for a second."""
    seconds = max(get_max_age(response) or 0, LEAST_SECONDS)
    until = monotonic() + seconds
    return Kept(revision, until, response.status_code, dict(response.headers), response.content)
