"""The HTTP client under both SDKs: one deadline for the whole exchange, one cap on its bytes.

An answer is a JSON object in memory, unless the caller says `saving` or `of_any_type`.

Import it on use: httpx2 comes with the SDKs, which are optional.
"""

import json
import math
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from jobs.paid.clients import MOST_BYTES, MOST_FILE_BYTES, may_send
from jobs.paid.clients.declined import Declined
from jobs.paid.clients.faults import Faults

# Headers about the bytes on the wire: they are wrong for the unpacked body.
ON_THE_WIRE = {"content-encoding", "content-length", "transfer-encoding"}

NAP = 1.0  # seconds
FROZEN = 2 * NAP  # if a nap took longer, the process was frozen

Reader = Callable[[httpx2.Response, int], bytes]  # gets the cap in bytes

# The beginning of the answer to this thread's request; None until it arrives.
answer: ContextVar[str | None] = ContextVar("answer", default=None)


class NotSent(Exception):
    """No byte of the request was sent, so it was certainly not accepted."""


class Lost(Exception):
    """The request was sent, but no complete answer came back."""


class Unusable(Exception):
    """An answer came, but it is too long, broken or not a JSON object."""

    def __init__(self, what: str, body: bytes = b"") -> None:
        super().__init__(what)
        self.body = beginning(body)


@contextmanager
def mapped(faults: Faults, declined: Callable[[Faults, Declined], Exception]) -> Iterator[None]:
    """Turn transport errors into those of `jobs.errors`.

    They are raised without a cause: its text may quote headers, and tracebacks are stored.
    """
    answer.set(None)
    try:
        yield
    except NotSent as error:
        raise faults.not_sent(str(error)) from None
    except Lost as error:
        raise faults.lost(str(error)) from None
    except Unusable as error:
        raise faults.garbage(str(error), error.body) from None
    except Declined as error:
        raise declined(faults, error) from None
    except Exception:
        # An SDK may raise anything over a strange answer. Without an answer, raise it unchanged.
        body = answer.get()
        if body is None:
            raise
        raise faults.garbage("JSON of another shape", body) from None


class Client(httpx2.Client):
    """Completes each request within its timeout, and reads the whole answer, up to the cap.

    It never reuses a connection: a service may close an idle one during a write, and then it
    is unknown whether the service accepted the request.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        unlimited = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
        super().__init__(follow_redirects=False, limits=unlimited)
        self.most_bytes = most_bytes

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        options.update(stream=True, follow_redirects=False)  # whatever the SDK asked for
        exchange = Exchange(request)
        read = reader.get()

        def fetch() -> httpx2.Response:
            return self.whole(super(Client, self).send(request, **options), read)

        response = exchange.result(fetch, request.extensions["timeout"]["read"])
        answer.set(beginning(response.content))
        return response

    def whole(self, response: httpx2.Response, read: Reader) -> httpx2.Response:
        """The answer with its unpacked body in memory."""
        try:
            if response.status_code != httpx2.codes.OK:
                body = in_memory(response, self.most_bytes)
                raise Declined(response.status_code, response.headers, body)
            body = read(response, self.most_bytes)
        finally:
            response.close()
        headers = [
            (name, value)
            for name, value in response.headers.multi_items()
            if name not in ON_THE_WIRE
        ]
        return httpx2.Response(
            response.status_code,
            headers=headers,
            content=body,
            request=response.request,
            extensions=response.extensions,
        )


def json_object(response: httpx2.Response, most_bytes: int) -> bytes:
    body = in_memory(response, most_bytes)
    check_json(response.headers.get("content-type", "no type"), body)
    return body


def in_memory(response: httpx2.Response, most_bytes: int) -> bytes:
    return b"".join(pieces(response, most_bytes))


def pieces(response: httpx2.Response, most_bytes: int) -> Iterator[bytes]:
    """All bytes, counted after unpacking; httpx2 unpacks a megabyte at a time."""
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > most_bytes:
        raise Unusable(f"{announced[:20]} bytes, of {most_bytes} allowed")
    count = 0
    for piece in response.iter_bytes():
        count += len(piece)
        if count > most_bytes:
            raise Unusable(f"more than the {most_bytes} bytes allowed")
        yield piece


# How this thread's next answers are read.
reader: ContextVar[Reader] = ContextVar("reader", default=json_object)


@contextmanager
def reading(read: Reader) -> Iterator[None]:
    before = reader.set(read)
    try:
        yield
    finally:
        reader.reset(before)


def of_any_type() -> AbstractContextManager[None]:
    """The answers inside may be anything, even nothing: their headers count."""
    return reading(in_memory)


@contextmanager
def saving(to: Path, most_bytes: int = MOST_FILE_BYTES) -> Iterator[None]:
    """Write the answer inside to this file, which appears only when it is whole."""
    with tempfile.TemporaryDirectory(dir=to.parent) as folder:
        part = Path(folder) / "part"  # of its own: a thread past its deadline may still write

        def save(response: httpx2.Response, _: int) -> bytes:
            with part.open("wb") as file:
                file.writelines(pieces(response, most_bytes))
            return b""

        with reading(save):
            yield
        part.replace(to)


class Exchange:
    """One request and its answer, on a thread that is abandoned at the deadline.

    A socket's timeout covers a single read or connect. A service that sends one byte a second,
    or a host with eight dead addresses, would take far longer.
    """

    def __init__(self, request: httpx2.Request) -> None:
        request.extensions["trace"] = self.watch
        self.may_send = may_send.get()
        self.lock = threading.Lock()
        self.socket: socket.socket | None = None
        self.sent = False
        self.given_up = False
        self.response: httpx2.Response | None = None
        self.error: BaseException | None = None

    def result(self, fetch: Callable[[], httpx2.Response], timeout: float) -> httpx2.Response:
        """The answer within `timeout` seconds awake; else raises NotSent, Lost or Unusable."""
        run = partial(copy_context().run, self.run, fetch)  # its log lines keep their trace
        thread = threading.Thread(target=run, name="paid-call", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the system allows no further thread
            raise NotSent(str(error)) from None
        wait_awake(thread, timeout)
        with self.lock:
            if self.response is not None:
                return self.response
            if self.error is None:
                self.give_up()
                self.error = httpx2.TimeoutException("at our deadline")
            raise self.outcome(self.error, timeout)

    def run(self, fetch: Callable[[], httpx2.Response]) -> None:
        response, failure = None, None
        try:
            response = fetch()
        except BaseException as error:
            failure = error
        with self.lock:
            if not self.given_up:
                self.response, self.error = response, failure

    def watch(self, event: str, info: dict[str, Any]) -> None:
        """Follow the exchange: httpx2 calls this before and after each of its steps."""
        with self.lock:
            if event.endswith(("connect_tcp.complete", "start_tls.complete")):
                self.socket = info["return_value"].get_extra_info("socket")
            # CONNECT goes to a proxy, not to the service.
            if event.endswith("send_request_headers.started") and (
                info["request"].method != b"CONNECT"
            ):
                if self.given_up:
                    # The caller was told that nothing was sent: keep that true.
                    raise httpx2.ConnectTimeout("too late to send")
                self.may_send()
                self.sent = True

    def give_up(self) -> None:
        """End the thread's wait and ignore its result."""
        self.given_up = True
        if self.socket is not None:
            with suppress(OSError):  # closed already, or half-way through a TLS handshake
                self.socket.shutdown(socket.SHUT_RDWR)

    def outcome(self, error: BaseException, timeout: float) -> BaseException:
        """The error's meaning: Lost once the first byte was sent, before that NotSent."""
        if isinstance(error, httpx2.DecodingError):
            return Unusable(f"bytes that can't be unpacked ({error})")
        if isinstance(error, httpx2.TransportError | OSError):
            late = isinstance(error, httpx2.TimeoutException)
            reason = (
                f"no answer within {timeout:g} s" if late else f"{type(error).__name__}: {error}"
            )
            return Lost(reason) if self.sent else NotSent(reason)
        return error


def wait_awake(thread: threading.Thread, timeout: float) -> None:
    """Wait for a thread, not counting the time in which the process was frozen.

    So an answer that arrived meanwhile can still be read.
    """
    naps = max(1, math.ceil(timeout / NAP))
    nap = timeout / naps
    while naps and thread.is_alive():
        began_at = time.monotonic()
        thread.join(nap)
        naps -= time.monotonic() - began_at < FROZEN


def check_json(content_type: str, body: bytes) -> None:
    """Refuse anything but a JSON object: the SDKs pass strings on and crash on lists."""
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise Unusable(f"{content_type[:80]} instead of JSON", body)
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise Unusable("broken JSON", body) from None
    if not isinstance(found, dict):
        raise Unusable("JSON of another shape", body)


def beginning(body: bytes) -> str:
    """The first 1,000 bytes as text, to be quoted."""
    return body[:1_000].decode("utf-8", "replace")
