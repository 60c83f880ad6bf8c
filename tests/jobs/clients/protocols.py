"""A paid image service on this machine: speaks Gemini's and OpenAI's protocol, keeps a ledger.

    with Service() as service:
        service.script = [answers.status(503), answers.picture()]  # then pictures
        gemini = Gemini("key", service.url)
        openai = OpenAI("key", service.url + "/v1")
        ...
        assert [entry.paid for entry in service.ledger] == [False, True]

Each request is answered by a behaviour of `tests.jobs.clients.answers`.
"""

import functools
import importlib
import json
import os
import socket
import struct
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.jobs.clients import answers


@dataclass
class Entry:
    """One request in the service's own ledger."""

    number: int  # from 1, in order of arrival
    when: float
    path: str
    prompt: str
    model: str
    request: dict[str, Any]
    headers: dict[str, str] = field(repr=False)
    step: str = ""  # of a batch: upload, create, list, look, cancel, download
    paid: bool = False  # an answer was made and is billed, even if it never arrives
    sent: int = 0  # bytes of the body


class Service(ThreadingHTTPServer):
    """Answers with pictures, or as scripted.

    `script` is a list of behaviours, of which each request takes the first, or a function
    (prompt, number) -> behaviour. A list that has run out, or None, means a picture.
    `delay` is the seconds before each answer; `hold` an Event that each answer waits for.
    """

    conversation: type["Conversation"]
    daemon_threads = False  # closing waits for them, so that no socket is left open
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.conversation)
        self.books = threading.Condition()
        self.closing = threading.Event()
        self.start_anew()

    def start_anew(self) -> None:
        """Forget all requests and the script; a client that still waits gets no answer."""
        self.closing.set()
        with self.books:
            self.entries: list[Entry] = []
            self.script: list[Any] | Callable[[str, int], Any] = []
            self.delay = 0.0
            self.hold: threading.Event | None = None
            self.closing = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def ledger(self) -> list[Entry]:
        """The requests so far, in order of arrival."""
        with self.books:
            return list(self.entries)

    @property
    def paid(self) -> list[str]:
        """The prompts whose pictures are billed."""
        return [entry.prompt for entry in self.ledger if entry.paid]

    def wait_for(self, requests: int, seconds: float = 90) -> None:
        """Wait until this many requests have arrived, answered or not."""
        with self.books:
            assert self.books.wait_for(lambda: len(self.entries) >= requests, seconds)

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.02,), name="service").start()
        return self

    def __exit__(self, *error):
        self.closing.set()
        self.shutdown()
        self.server_close()

    def book(self, **columns) -> Entry:
        with self.books:
            entry = Entry(number=len(self.entries) + 1, when=time.time(), **columns)
            self.entries.append(entry)
            self.books.notify_all()
            return entry

    def behaviour_for(self, entry: Entry):
        if callable(self.script):
            return self.script(entry.prompt, entry.number) or self.usual
        with self.books:
            return self.script.pop(0) if self.script else self.usual

    def usual(self, conversation):
        """What is answered without a script."""
        answers.picture()(conversation)

    def next_is(self, behaviour) -> bool:
        """Take the behaviour from the script if it is next, before the request is read."""
        with self.books:
            if isinstance(self.script, list) and self.script[:1] == [behaviour]:
                self.script.pop(0)
                return True
        return False

    def pause(self, seconds: float) -> None:
        """Sleep, but not past the service's end."""
        self.closing.wait(seconds)

    def wait_until_released(self) -> None:
        while self.hold and not self.hold.wait(0.02) and not self.closing.is_set():
            pass

    def handle_error(self, request, client_address):
        """Ignore clients that hung up; print any other error."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Conversation(BaseHTTPRequestHandler):
    """One request and its answer."""

    server: Service
    entry: Entry
    protocol_version = "HTTP/1.1"
    timeout = 20

    def handle(self):
        if self.server.next_is(answers.reset_unread):
            self.server.book(path="", prompt="", model="", request={}, headers={})
            self.connection.recv(1, socket.MSG_PEEK)  # wait for the request, but leave it unread
            self.reset()
        else:
            super().handle()

    def do_POST(self):
        self.close_connection = True
        self.converse(self.body())

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def book(self, request, step="") -> Entry:
        self.entry = self.server.book(
            path=self.path,
            prompt=prompt_of(request),
            model=request.get("model") or self.path.rpartition("/")[2].partition(":")[0],
            request=request,
            headers={name.lower(): value for name, value in self.headers.items()},
            step=step,
        )
        return self.entry

    def converse(self, body: bytes) -> None:
        """Answer a request that is not about batches."""
        behaviour = self.server.behaviour_for(self.book(json.loads(body)))
        self.server.pause(self.server.delay)
        self.server.wait_until_released()
        with suppress(OSError):  # the client is gone
            behaviour(self)

    @property
    def speaks_gemini(self) -> bool:
        return self.path.endswith(":generateContent")

    def begin(self, status, length=None, content_type="application/json", headers=()):
        """Send the head; without a length the body comes in chunks."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Connection", "close")
        if length is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(length))
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.end_headers()

    def say(self, piece: bytes) -> None:
        self.wfile.write(piece)
        self.entry.sent += len(piece)

    def say_chunk(self, piece: bytes) -> None:
        self.wfile.write(b"%x\r\n" % len(piece))
        self.say(piece)
        self.wfile.write(b"\r\n")

    def answer(self, status, body, content_type="application/json", headers=()):
        """Send a whole answer."""
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.begin(status, len(body), content_type, headers)
        self.say(body)

    def reset(self) -> None:
        """End the connection with RST: the client's next read fails."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())

    def log_message(self, *args):
        pass


Service.conversation = Conversation


@functools.cache
def import_sdks() -> None:
    """Import both once, without warnings: google-genai warns, and pytest turns that into errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module("google.genai.types")
        importlib.import_module("openai")


def prompt_of(request):
    if "contents" in request:
        pieces = [part for content in request["contents"] for part in content["parts"]]
        return "".join(part.get("text", "") for part in pieces)
    if "messages" in request:
        return "".join(said["content"] for said in request["messages"] if said["role"] == "user")
    return request.get("prompt", "")
