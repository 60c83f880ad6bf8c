"""A collector of spans on this machine: speaks OTLP over HTTP, and keeps its own books.

with Collector() as collector:
    os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url
    ...
    [span] = collector.named("perform testapp.Chore")
"""

import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from jobs import spans

VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT"


@dataclass(frozen=True)
class Received:
    """One span, as it came over the wire; ids are hexadecimal."""

    name: str
    kind: str
    trace: str
    id: str
    parent: str
    links: tuple[str, ...]  # the trace ids
    facts: dict[str, object]
    has_failed: bool
    service: str


class Collector(ThreadingHTTPServer):
    """`hold` an Event, and no request is answered before it is set."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Conversation)
        self.received: list[Received] = []
        self.requests = 0
        self.status = 200
        self.hold: threading.Event | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def named(self, name: str) -> list[Received]:
        return [span for span in self.received if span.name == name]

    def of_kind(self, kind: str) -> list[Received]:
        return [span for span in self.received if span.kind == kind]

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.02,), name="collector").start()
        return self

    def __exit__(self, *error):
        if self.hold:
            self.hold.set()
        self.shutdown()
        self.server_close()


class Conversation(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests += 1
        if self.server.hold:
            self.server.hold.wait(60)
        if self.path == "/v1/traces" and self.server.status == 200:
            self.server.received += read(body)
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def read(body: bytes) -> list[Received]:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

    return [
        Received(
            name=span.name,
            kind=Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
            trace=span.trace_id.hex(),
            id=span.span_id.hex(),
            parent=span.parent_span_id.hex(),
            links=tuple(link.trace_id.hex() for link in span.links),
            facts=dict(map(fact, span.attributes)),
            has_failed=span.status.code == Status.STATUS_CODE_ERROR,
            service=str(dict(map(fact, group.resource.attributes))["service.name"]),
        )
        for group in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in group.scope_spans
        for span in scope.spans
    ]


def fact(pair) -> tuple[str, object]:
    return pair.key, getattr(pair.value, pair.value.WhichOneof("value"))


@pytest.fixture
def collector(monkeypatch):
    """Spans are on, and sent here; `spans.stop()` sends the last ones."""
    with Collector() as collector:
        monkeypatch.setenv(VARIABLE, collector.url)
        spans.forget()
        yield collector
        spans.stop()
    spans.forget()
