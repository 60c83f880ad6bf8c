"""A limit of requests per address, so that one client can't keep the site from all others.

Each process counts by itself, without a query. Only an address that asks one process for more than
a quarter of the limit is counted in the database, for all processes together, with one write per
20 requests. So the limit holds for up to four processes; each further one may add a quarter.
"""

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from django.conf import settings
from django.db import Error
from django.http import HttpRequest, HttpResponse

from config import errors
from config.doors import limiter
from config.doors.addresses import address_of, group_of

log = logging.getLogger(__name__)

BATCH = 20
NEAR = 4  # a process asks the database about addresses that use a quarter of the limit
MOST_CLIENTS = 10_000  # remembered at a time
FREE = ("/static/", "/pictures/", "/favicon.ico")  # files: sent without a query, kept by browsers


@dataclass
class Visit:
    """One client, as this process sees it; times are those of the monotonic clock."""

    debt: float = 0  # requests that are not repaid yet
    unsaved: int = 0  # of these, not yet in the database
    seen_at: float = field(default_factory=time.monotonic)
    closed_until: float = 0

    def add(self, per_minute: int) -> None:
        now = time.monotonic()
        repaid = (now - self.seen_at) * per_minute / 60 / NEAR  # other processes may count as much
        self.debt = max(self.debt - repaid, 0) + 1
        self.unsaved = min(self.unsaved + 1, math.ceil(self.debt))
        self.seen_at = now


class Visits:
    """What this process remembers of its visitors."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.by_client: dict[str, Visit] = {}

    def wait(self, client: str, per_minute: int) -> float:
        """Count a request; returns how many seconds this client must wait, usually 0."""
        with self.lock:
            visit = self.find(client)
            if (wait := visit.closed_until - time.monotonic()) > 0:
                return wait
            visit.add(per_minute)
            if visit.unsaved < BATCH or visit.debt < per_minute / NEAR:
                return 0
            requests, visit.unsaved = visit.unsaved, 0
        owed = spend(client, requests, per_minute)
        if owed:
            visit.closed_until = time.monotonic() + owed
            log.info("Too many requests from %s: closed for %.1f s", client, owed)
        return owed

    def find(self, client: str) -> Visit:
        if len(self.by_client) > MOST_CLIENTS:
            self.by_client.clear()
        return self.by_client.setdefault(client, Visit())


def spend(client: str, requests: int, per_minute: int) -> float:
    try:
        return limiter.spend(client, requests, per_minute).total_seconds()
    except Error as error:  # the page itself will say what is wrong with the database
        log.warning("The requests of %s could not be counted: %s", client, error)
        return 0


visits = Visits()


def middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def slow_down(request: HttpRequest) -> HttpResponse:
        per_minute = settings.VISITOR_REQUESTS_PER_MINUTE
        if not per_minute or request.path.startswith(FREE):
            return get_response(request)
        client = group_of(address_of(request))
        # Without an address all visitors would be counted as one.
        wait = math.ceil(visits.wait(client, per_minute)) if client else 0
        if not wait:
            return get_response(request)
        return errors.too_many_requests(request, wait)

    return slow_down
