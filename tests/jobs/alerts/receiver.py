"""A webhook's receiver on this machine: it keeps its own books, and misbehaves as scripted.

    receiver.script = [receiver.status(500), receiver.lose_reply]  # then 204

It checks signatures by the documented rule, with nothing of the sender's code.
"""

import hashlib
import hmac
import json
import os
import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Delivery:
    """One request, as it arrived."""

    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self):
        return json.loads(self.raw)

    def is_signed_with(self, secret):
        signed = self.headers["X-Tabie-Timestamp"].encode() + b"." + self.raw
        expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
        return self.headers["X-Tabie-Signature"] == f"sha256={expected}"


class Receiver(ThreadingHTTPServer):
    daemon_threads = False  # closing waits for them, so that no socket is left open

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Talk)
        self.books = threading.Lock()
        self.closing = threading.Event()
        self.start_anew()

    def start_anew(self):
        self.closing.set()
        with self.books:
            self.closing = threading.Event()
            self.deliveries = []
            self.script = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def told(self):
        """The events and kinds that arrived, in their order."""
        with self.books:
            return [(each.body["event"], each.body["kind"]) for each in self.deliveries]

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.02,), name="receiver").start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self.shutdown()
        self.server_close()

    def next_behaviour(self):
        with self.books:
            return self.script.pop(0) if self.script else status(204)

    # Behaviours

    @staticmethod
    def lose_reply(talk):
        """It has taken the message, but the sender never learns that."""
        linger = struct.pack("ii", 1, 0)
        talk.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        os.close(talk.connection.detach())

    @staticmethod
    def hang(talk):
        talk.server.closing.wait(60)

    @staticmethod
    def drip(talk):
        """A head that never ends: each byte comes in time, the whole never does."""
        talk.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not talk.server.closing.wait(0.02):
            talk.wfile.write(b".")

    @staticmethod
    def pour(talk):
        """A body that never ends."""
        talk.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not talk.server.closing.is_set():
            talk.wfile.write(b"x" * 65_536)

    @staticmethod
    def babble(talk):
        talk.wfile.write(b"\x00\xff this is no HTTP\r\n\r\n")


def status(code, **headers):
    def behaviour(talk):
        talk.send_response(code)
        for name, value in {"Content-Length": "0", **headers}.items():
            talk.send_header(name, value)
        talk.end_headers()

    return behaviour


class Talk(BaseHTTPRequestHandler):
    server: Receiver
    protocol_version = "HTTP/1.1"
    timeout = 20

    def do_POST(self):
        self.close_connection = True
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.books:
            self.server.deliveries.append(Delivery(self.path, dict(self.headers.items()), raw))
        with suppress(OSError):  # the sender is gone
            self.server.next_behaviour()(self)

    def do_GET(self):
        """A redirect that was followed."""
        self.do_POST()

    def log_message(self, *args):
        pass
