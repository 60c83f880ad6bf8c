"""A message as a signed POST to ALERT_WEBHOOK_URL. Its address and its secret are in no text."""

import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.error import URLError
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from django.core.serializers.json import DjangoJSONEncoder
from django.utils.crypto import salted_hmac

from jobs import settings
from jobs.alerts import ways
from jobs.alerts.ways import DEADLINE, NotDelivered, Way
from jobs.alerts.wording import Message


def secret() -> str:
    """The key of the signatures: ALERT_WEBHOOK_SECRET, or one made from SECRET_KEY."""
    chosen: str = settings.ALERT_WEBHOOK_SECRET
    return chosen or salted_hmac("jobs.alerts.webhook", "", algorithm="sha256").hexdigest()


def signature(timestamp: str, body: bytes) -> str:
    signed = timestamp.encode() + b"." + body
    return "sha256=" + hmac.new(secret().encode(), signed, hashlib.sha256).hexdigest()


def send(message: Message) -> None:
    """Deliver it; raises NotDelivered unless the receiver says 2xx in time."""
    facts = asdict(message)
    timestamp = str(int(facts.pop("sent_at").timestamp()))
    body = json.dumps(facts, cls=DjangoJSONEncoder).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Tabie",
        "Idempotency-Key": message.id,
        "X-Tabie-Timestamp": timestamp,
        "X-Tabie-Signature": signature(timestamp, body),
    }
    request = Request(ways.webhook_url(), body, headers, method="POST")  # noqa: S310 (http only)
    status = Exchange().status(request)
    if not 200 <= status < 300:
        raise NotDelivered(f"{ways.destination(Way.WEBHOOK)}: HTTP {status}")


class Exchange:
    """One request, and the status of its reply, of which the body is not read.

    It knows http and https alone, and follows no redirect: the message is for nobody else.
    """

    def __init__(self) -> None:
        self.connection: HTTPConnection | None = None
        self.is_late = False
        self.opener = OpenerDirector()
        for handler in (ProxyHandler(), Http(self.connect), Https(self.connect)):
            self.opener.add_handler(handler)

    def status(self, request: Request) -> int:
        # A socket's timeout covers a single read: a byte a second would take for ever.
        deadline = threading.Timer(DEADLINE, self.give_up)
        deadline.daemon = True
        deadline.start()
        try:
            with self.opener.open(request, timeout=DEADLINE) as reply:
                if self.is_late:  # its head was cut off, which looks like its end
                    raise TimeoutError
                return int(reply.status)
        except (OSError, HTTPException, ValueError) as error:
            # Without its cause, which may quote the address.
            host = ways.destination(Way.WEBHOOK)
            raise NotDelivered(f"{host}: {self.described(error)}") from None
        finally:
            deadline.cancel()

    def connect(self, kind: Callable[..., HTTPConnection], *where: Any, **how: Any) -> Any:
        self.connection = kind(*where, **how)
        return self.connection

    def give_up(self) -> None:
        self.is_late = True
        if self.connection is not None and self.connection.sock is not None:
            with suppress(OSError):  # closed already
                self.connection.sock.shutdown(socket.SHUT_RDWR)

    def described(self, error: Exception) -> str:
        reason = error.reason if isinstance(error, URLError) else error
        if self.is_late or isinstance(reason, TimeoutError):
            return f"no reply within {DEADLINE:g} s"
        words = getattr(reason, "strerror", None)
        return f"{type(reason).__name__}: {words}" if words else type(reason).__name__


class Http(HTTPHandler):
    def __init__(self, connect: Callable[..., Any]) -> None:
        super().__init__()
        self.connect = connect

    def http_open(self, request: Request) -> Any:
        return self.do_open(partial(self.connect, HTTPConnection), request)


class Https(HTTPSHandler):
    def __init__(self, connect: Callable[..., Any]) -> None:
        super().__init__()
        self.connect = connect

    def https_open(self, request: Request) -> Any:
        return self.do_open(partial(self.connect, HTTPSConnection), request)
