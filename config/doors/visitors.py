"""A limit of requests per address, so that one client can't keep the site from all others.

Each process counts by itself and writes only once per 20 requests of one address. So most
visitors cost no query, and the limit of all processes together is exact to 20 requests each.
"""

import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import Error
from django.http import HttpRequest, HttpResponse

from config import errors
from config.doors import limiter
from config.doors.addresses import address_of, group_of

log = logging.getLogger(__name__)

BATCH = 20
MOST_CLIENTS = 10_000  # remembered at a time
FREE = ("/static/", "/pictures/", "/favicon.ico")  # files: sent without a query, kept by browsers


class Visits:
    """What this process remembers of its visitors."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.unsaved: Counter[str] = Counter()
        self.closed_until: dict[str, float] = {}  # by the monotonic clock

    def wait(self, client: str, per_minute: int) -> float:
        """Count a request; returns how many seconds this client must wait, usually 0."""
        with self.lock:
            wait = self.closed_until.get(client, 0) - time.monotonic()
            if wait > 0:
                return wait
            self.unsaved[client] += 1
            if self.unsaved[client] < BATCH:
                self.forget()
                return 0
            del self.unsaved[client]
        try:
            owed = limiter.spend(client, BATCH, per_minute)
        except Error as error:  # the page itself will say what is wrong with the database
            log.warning("The requests of %s could not be counted: %s", client, error)
            return 0
        if owed > timedelta(0):
            with self.lock:
                self.closed_until[client] = time.monotonic() + owed.total_seconds()
        return owed.total_seconds()

    def forget(self) -> None:
        """Keep the memory of many clients small."""
        if len(self.unsaved) + len(self.closed_until) > MOST_CLIENTS:
            self.unsaved.clear()
            self.closed_until.clear()


visits = Visits()


def middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def slow_down(request: HttpRequest) -> HttpResponse:
        per_minute = settings.VISITOR_REQUESTS_PER_MINUTE
        client = group_of(address_of(request))
        # Without an address all visitors would be counted as one.
        if not per_minute or not client or request.path.startswith(FREE):
            return get_response(request)
        wait = math.ceil(visits.wait(client, per_minute))
        if not wait:
            return get_response(request)
        log.info("Too many requests from %s: closed for %d s", client, wait)
        return errors.too_many_requests(request, wait)

    return slow_down
