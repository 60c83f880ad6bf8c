"""A chain's next request: this site calls itself, and does not wait for the answer.

Never at an address that a client named, such as its Host header: the secret goes along. Redirects
are not followed for the same reason.
"""

import logging
import math
import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlencode, urlsplit

from django.conf import settings

from jobs.worker import chain

log = logging.getLogger(__name__)

PATH = "/internal/run-jobs/"
SECRET = "X-Internal-Secret"  # noqa: S105 (the name of a header)
LINK = "X-Chain-Link"
CONNECT_SECONDS = 1.0
NOTICE_SECONDS = 1.5  # in which the next request usually takes the chain over


def call(token: str, seconds: int, jobs: float) -> str:
    """Call it; returns what became of the chain, as far as that is known.

    The database tells when the next request has begun. One that a host starts slowly is not
    waited for: the chain stays open for it for a while.
    """
    connection = connect()
    try:
        post(connection, token, seconds, jobs)
        if is_noticed(token):
            return "continued"
        status = early_status(connection)
        if status is None:
            return "sent"
        raise HTTPException(f"it answered with {status} at once")
    except (OSError, HTTPException) as error:
        log.error("The chain ends: %s%s: %s. Is SITE_URL right?", settings.SITE_URL, PATH, error)
        chain.end(token)
        return "broken"
    finally:
        connection.close()


def connect() -> HTTPConnection:
    site = urlsplit(settings.SITE_URL)
    kind = HTTPSConnection if site.scheme == "https" else HTTPConnection
    return kind(site.hostname or "", site.port, timeout=CONNECT_SECONDS)


def post(connection: HTTPConnection, token: str, seconds: int, jobs: float) -> None:
    asked = {"seconds": seconds, "chain": "true"}
    if jobs < math.inf:
        asked["jobs"] = int(jobs)
    address = f"{urlsplit(settings.SITE_URL).path}{PATH}?{urlencode(asked)}"
    secret = settings.INTERNAL_SECRET.encode()
    connection.request("POST", address, headers={SECRET: secret, LINK: token})


def is_noticed(token: str) -> bool:
    give_up_at = time.monotonic() + NOTICE_SECONDS
    while not (is_taken := chain.is_taken(token)) and time.monotonic() < give_up_at:
        time.sleep(0.05)
    return is_taken


def early_status(connection: HTTPConnection) -> int | None:
    """The status of an answer that is there already: a refusal. None: it is still at work."""
    connection.sock.settimeout(0.1)
    try:
        return connection.getresponse().status
    except TimeoutError:
        return None
