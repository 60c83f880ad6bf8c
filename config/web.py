"""The web server's worker: only a request that has arrived gets a thread.

gunicorn gives every connection a thread and lets it wait there for its client, without a deadline.
A handful of clients that never finish their requests would stop the site for everybody. Here the
event loop waits for clients; gunicorn.conf.py and docs/servers.md say with which limits.
"""

import errno
import math
import re
import selectors
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any

from gunicorn.errors import ConfigError
from gunicorn.workers.gthread import TConn, ThreadWorker

ARRIVE_SECONDS = 20  # for a whole request
LINGER_SECONDS = 2  # for a client to read the response before the connection is cut
SHARE_SECONDS = 0.001  # until a process takes another connection, so that the others get theirs
MOST_HEAD = 64 * 1024
# A larger body is left to the application, which refuses it unread, or trusts its sender.
MOST_BODY = 64 * 1024
# The kernel takes this much of a response, if it may: most slow readers then keep no thread.
SEND_BUFFER = 1024 * 1024

END = b"\r\n\r\n"
LENGTH = re.compile(rb"(?im)^content-length:[ \t]*(\d+)")
CHUNKED = re.compile(rb"(?im)^transfer-encoding:")
EXPECTS = re.compile(rb"(?im)^expect:[ \t]*100-continue[ \t]*\r\n")
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
REFUSAL = "HTTP/1.1 {}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
TOO_LATE = REFUSAL.format("408 Request Timeout").encode()
TOO_LONG = REFUSAL.format("431 Request Header Fields Too Large").encode()

# Answered by the event loop, like /healthz of config/probes.py: a process whose threads all wait
# for a lost database must not be restarted for that.
HEALTH = b"GET /healthz HTTP/"
HEALTHY = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n"
    b"Cache-Control: no-store\r\nConnection: close\r\n\r\nok\n"
)

Socket = socket.socket


class Connection(TConn):
    """One client. What has arrived only decides when a thread looks; gunicorn then parses it."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self.arrived = bytearray()
        self.length = 0  # of the request, once its head is here
        self.data_ready = True  # gunicorn need not wait for the first byte
        self.is_whole = True
        self.is_leaving = False
        self.deadline = math.inf

    def init(self) -> None:
        super().init()
        self.parser.unreader.unread(bytes(self.arrived))
        self.arrived.clear()
        self.length = 0

    def has_arrived(self) -> bool:
        """Whether a thread can begin: the request is whole, or too large to wait for here."""
        if not self.length and (end := self.arrived.find(END)) >= 0:
            self.read_head(bytes(self.arrived[: end + 2]))
        return 0 < self.length <= len(self.arrived)

    def read_head(self, head: bytes) -> None:
        """Learn how much to wait for. Once per request: a body may come in thousands of packets."""
        found = LENGTH.search(head)
        body = int(found[1][:20]) if found else 0
        self.is_whole = body <= MOST_BODY and not CHUNKED.search(head)
        # Ask for the body here, as a thread would only wait for it. A body that is too large is
        # not asked for: its sender sees the refusal first.
        rest = EXPECTS.sub(b"", head)
        self.arrived[: len(head)] = rest
        self.length = len(rest) + len(END) - 2 + (body if self.is_whole else 0)
        if rest != head and self.is_whole and len(self.arrived) < self.length:
            self.send(CONTINUE)

    def send(self, text: bytes) -> None:
        """Send a few bytes, if the client takes them at once."""
        with suppress(OSError):
            self.sock.send(text)


class SiteWorker(ThreadWorker):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.waiting: set[Connection] = set()  # for their clients, in the event loop
        self.working: set[Connection] = set()  # in a thread, or next to get one
        self.accepts_at = 0.0

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        super().check_config(cfg, log)
        if cfg.is_ssl:
            raise ConfigError(
                "config.web.SiteWorker speaks plain http; the proxy in front speaks https "
                "(docs/servers.md). Without a proxy use --worker-class gthread."
            )

    # In the event loop

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        shares_for = self.accepts_at - time.monotonic()
        super().wait_for_and_dispatch_events(shares_for if 0 < shares_for < timeout else timeout)

    def set_accept_enabled(self, enabled: bool) -> None:
        """gunicorn calls this in every round of the loop, if it may take another connection.

        A proxy opens many connections at once and keeps them: the process that woke first would
        take them all, and then serve them alone while the others idle.
        """
        super().set_accept_enabled(enabled and time.monotonic() >= self.accepts_at)

    def accept(self, listener: Socket) -> None:
        if self.nr_conns >= self.worker_connections - 1:
            self.make_room()
        try:
            client, address = listener.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                self.make_room()
            elif error.errno not in (errno.EAGAIN, errno.EWOULDBLOCK, errno.ECONNABORTED):
                raise
            return
        self.nr_conns += 1
        self.accepts_at = time.monotonic() + SHARE_SECONDS
        self.set_accept_enabled(False)
        conn = Connection(self.cfg, client, address, own_address(listener))
        self.wait(conn, ARRIVE_SECONDS)

    def wait(self, conn: Connection, seconds: float) -> None:
        conn.sock.setblocking(False)
        conn.deadline = time.monotonic() + seconds
        self.waiting.add(conn)
        read: Callable[[Socket], None] = partial(self.read, conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, read)

    def read(self, conn: Connection, client: Socket) -> None:
        if conn not in self.waiting:  # dropped for a new connection in this round of the loop
            return
        try:
            data = client.recv(MOST_BODY)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self.drop(conn)
        elif not conn.is_leaving:
            if not conn.arrived:
                conn.deadline = time.monotonic() + ARRIVE_SECONDS
            conn.arrived += data
            self.look_at(conn)

    def look_at(self, conn: Connection) -> None:
        if conn.has_arrived():
            self.stop_waiting(conn)
            if conn.arrived.startswith(HEALTH):
                self.say_healthy(conn)
                return
            self.working.add(conn)
            self.enqueue_req(conn)
        elif len(conn.arrived) > MOST_HEAD and not conn.length:
            self.drop(conn, TOO_LONG)

    def say_healthy(self, conn: Connection) -> None:
        conn.arrived.clear()
        conn.send(HEALTHY)
        self.leave(conn)

    def finish_request(self, conn: Connection, done: "Future[bool]") -> None:
        self.working.discard(conn)
        is_reused = self.alive and not done.cancelled() and not done.exception() and done.result()
        if not is_reused:
            self.leave(conn)
            return
        conn.arrived += conn.parser.unreader.take_buffered()  # of the client's next request
        self.wait(conn, ARRIVE_SECONDS if conn.arrived else self.cfg.keepalive)
        self.look_at(conn)

    def leave(self, conn: Connection) -> None:
        """End the connection; a client that still sends may read the response first."""
        conn.is_leaving = True
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self.close(conn)
        else:
            self.wait(conn, LINGER_SECONDS)

    def stop_waiting(self, conn: Connection) -> None:
        self.poller.unregister(conn.sock)
        self.waiting.discard(conn)
        conn.deadline = math.inf

    def drop(self, conn: Connection, farewell: bytes = b"") -> None:
        self.stop_waiting(conn)
        if farewell:
            conn.send(farewell)
        self.close(conn)

    def close(self, conn: Connection) -> None:
        self.nr_conns -= 1
        conn.close()

    def make_room(self) -> None:
        """Drop the connection whose time ends next, so that new visitors get in."""
        if self.waiting:
            self.drop(min(self.waiting, key=lambda conn: conn.deadline))

    def murder_keepalived(self, force: bool = False) -> None:
        """Hold every connection to its deadline. gunicorn calls this at least once a second."""
        now = time.monotonic()
        for conn in list(self.waiting):
            is_stopped = not self.alive and not conn.is_leaving
            if force or is_stopped or conn.deadline <= now:
                self.drop(conn, TOO_LATE if conn.arrived else b"")
        for conn in self.working:
            if conn.deadline <= now:
                with suppress(OSError):  # wakes a thread that reads from it or writes to it
                    conn.sock.shutdown(socket.SHUT_RDWR)

    # In a thread

    def handle(self, conn: Connection) -> Any:
        conn.deadline = time.monotonic() + (self.cfg.timeout or math.inf)
        return super().handle(conn)

    def handle_request(self, req: Any, conn: Connection) -> Any:
        if not conn.is_whole:  # what is left of a body that was refused is not waited for
            req.force_close()
        return super().handle_request(req, conn)


def own_address(listener: Socket) -> Any:
    """The address that the server listens at; behind a socket file it has no port.

    For a socket file gunicorn would take the port from the client's Host header.
    """
    return ("localhost", "") if listener.family == socket.AF_UNIX else listener.getsockname()
