"""Spans for OpenTelemetry: of requests, enqueueing, runs, their steps, and paid calls.

They are on if OTEL_EXPORTER_OTLP_ENDPOINT is set. Otherwise OpenTelemetry is not imported, and a
span costs one check. A thread of the SDK sends them from a bounded queue: a collector that is slow
or away costs spans, never a job or a request.
"""

import atexit
import logging
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from jobs import __version__, tracing
from jobs.db import text
from jobs.errors import Cancel, LeaseLost, NoRoom, Snooze

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanContext, Tracer

log = logging.getLogger(__name__)

Attributes = Mapping[str, str | int]

SWITCHES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
SYSTEM = "tabie"
SERVICES = {"gemini": "gcp.gemini"}  # whose names differ in OpenTelemetry's conventions
GENERATE = "generate_content"
CALM = (Cancel, LeaseLost, NoRoom, Snooze)  # the ways of the queue, not faults
FLUSH_SECONDS = 3.0  # for the last spans, when the process ends
MOST_LINKS = 100  # of a batch to its members; the SDK keeps 128


class Opened:
    """A span that is open. Its methods do nothing while spans are off."""

    def __init__(self, span: "Span | None" = None) -> None:
        self.span = span

    def note(self, attributes: Mapping[str, Any]) -> None:
        if self.span:
            told = {name: value for name, value in attributes.items() if value not in (None, "")}
            self.span.set_attributes(told)

    def rename(self, name: str) -> None:
        if self.span:
            self.span.update_name(name)

    def fail(self, kind: str, description: str = "") -> None:
        if self.span:
            from opentelemetry.trace import StatusCode

            self.span.set_attribute("error.type", kind)
            self.span.set_status(StatusCode.ERROR, description or None)

    def end_with(self, error: BaseException | None) -> None:
        """An error marks the span as failed; an end that the queue intends does not."""
        if self.span and error is not None and not isinstance(error, CALM):
            self.fail(text.kind(error), text.message(error))


Opening = AbstractContextManager[Opened]

NOTHING: Opening = nullcontext(Opened())


# What has a span


def request(method: str, path: str) -> Opening:
    return _open("SERVER", method, {"http.request.method": method, "url.path": path})


def enqueue(jobs: list[Any]) -> Opening:
    """Of all jobs that are enqueued together."""
    if not jobs or tracer() is None:
        return NOTHING
    facts = _messaging("send", "enqueue", jobs[0])
    if len(jobs) == 1:
        facts["messaging.message.id"] = str(jobs[0].pk)
    else:
        facts["messaging.batch.message_count"] = len(jobs)
    return _open("PRODUCER", f"enqueue {jobs[0]._meta.label}", facts)


def perform(job: Any, worker: str) -> Opening:
    """Of one run. What enqueued the job is its parent."""
    if tracer() is None:
        return NOTHING
    facts = {
        **_messaging("process", "perform", job),
        "messaging.message.id": str(job.pk),
        "messaging.client.id": worker,
        "tabie.epoch": job.epoch,
        "tabie.attempt": job.attempts + 1,
    }
    return _open("CONSUMER", f"perform {job._meta.label}", facts)


def step(name: str) -> Opening:
    return _open("INTERNAL", name, {})


def call(provider: str, links: Iterable[str] = ()) -> Opening:
    """Of one request to a paid service, named `service:model`; with links to other traces."""
    service, _, model = provider.partition(":")
    facts: Attributes = {
        "gen_ai.operation.name": GENERATE,
        "gen_ai.provider.name": SERVICES.get(service, service),
        "gen_ai.request.model": model or service,
    }
    return _open("CLIENT", f"{GENERATE} {model or service}", facts, links)


def _messaging(type: str, name: str, job: Any) -> dict[str, str | int]:
    return {
        "messaging.system": SYSTEM,
        "messaging.destination.name": job._meta.label,
        "messaging.operation.type": type,
        "messaging.operation.name": name,
    }


# How a span is opened


def _open(kind: str, name: str, attributes: Attributes, links: Iterable[str] = ()) -> Opening:
    known = tracer()
    return _opened(known, kind, name, attributes, links) if known else NOTHING


@contextmanager
def _opened(
    tracer: "Tracer", kind: str, name: str, attributes: Attributes, links: Iterable[str]
) -> Iterator[Opened]:
    from opentelemetry import context, trace

    linked = [trace.Link(_read(each)) for each in links]
    span = tracer.start_span(name, _parent(), trace.SpanKind[kind], attributes, linked)
    opened = Opened(span)
    token = context.attach(trace.set_span_in_context(span))
    try:
        with tracing.inside(_written(span.get_span_context())):
            yield opened
    except BaseException as error:
        opened.end_with(error)
        raise
    finally:
        context.detach(token)
        span.end()


def around() -> str:
    """The trace id of the span around it, perhaps of another library's; empty if there is none."""
    here = _here() if tracer() else None
    return f"{here.trace_id:032x}" if here else ""


def span_id() -> str:
    """For log lines: it does not start the SDK, which may be writing this very line."""
    here = _here()
    return f"{here.span_id:016x}" if here else ""


def _here() -> "SpanContext | None":
    if _tracer is None:
        return None
    from opentelemetry import trace

    here = trace.get_current_span().get_span_context()
    return here if here.is_valid else None


def _parent() -> "Context | None":
    """None for the span around it, if that is of this trace; else the caller's span, or none.

    A hook may run within a request, but belongs to the trace of its job.
    """
    from opentelemetry import trace
    from opentelemetry.context import Context

    if (trace_id := around()) and tracing.trace_id.get() in ("", trace_id):
        return None
    by = tracing.caller.get()
    remote = trace.NonRecordingSpan(_read(by)) if by else trace.INVALID_SPAN
    return trace.set_span_in_context(remote, Context())


def _read(traceparent: str) -> "SpanContext":
    from opentelemetry.trace import SpanContext, TraceFlags

    _, trace, span, flags = traceparent.split("-")
    return SpanContext(int(trace, 16), int(span, 16), True, TraceFlags(int(flags, 16)))


def _written(here: "SpanContext") -> str:
    return f"00-{here.trace_id:032x}-{here.span_id:016x}-{here.trace_flags:02x}"


# How spans are sent

_tracer: "Tracer | None" = None
_farewell: "Farewell | None" = None
_is_decided = False
_deciding = threading.Lock()


def tracer() -> "Tracer | None":
    """None if spans are off. The first span of a process starts the SDK."""
    global _tracer, _is_decided
    if not _is_decided:
        with _deciding:
            if not _is_decided:
                _tracer = _start() if _is_wanted() else None
                _is_decided = True
    return _tracer


def stop() -> None:
    """Send the last spans, within a moment or not at all. No span is sent after that."""
    if _farewell:
        _farewell.say()


def forget() -> None:
    """Decide anew. A forked process has none of the threads that send spans."""
    global _tracer, _farewell, _is_decided, _deciding
    _tracer, _farewell, _is_decided, _deciding = None, None, False, threading.Lock()


os.register_at_fork(after_in_child=forget)
atexit.register(stop)


def _is_wanted() -> bool:
    is_disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return any(map(os.environ.get, SWITCHES)) and not is_disabled


def _start() -> "Tracer | None":
    try:
        return _connect()
    except ImportError:
        log.warning("%s is set, but: pip install -r requirements-traces.txt", SWITCHES[0])
    except Exception as error:  # of a variable that the SDK can't read
        log.warning("No spans are sent: %s", text.message(error))
    return None


def _connect() -> "Tracer":
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class Ids(RandomIdGenerator):
        """A trace begins with the id that the logs have for it already."""

        def generate_trace_id(self) -> int:
            known = tracing.trace_id.get()
            return int(known, 16) if known else super().generate_trace_id()

    named = Resource.create({"service.name": SYSTEM, "service.version": __version__})
    provider = TracerProvider(
        resource=named.merge(OTELResourceDetector().detect()),  # OTEL_SERVICE_NAME wins
        id_generator=Ids(),
        shutdown_on_exit=False,  # it would wait for 30 s
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        trace.set_tracer_provider(provider)  # for spans that jobs open by themselves
    global _farewell
    _farewell = Farewell(provider)
    _farewell.start()
    return provider.get_tracer("jobs", __version__)


class Farewell(threading.Thread):
    """Sends the last spans. It is started early: Python starts no thread while it exits."""

    def __init__(self, provider: Any) -> None:
        super().__init__(name="last-spans", daemon=True)
        self.provider = provider
        self.is_time = threading.Event()

    def run(self) -> None:
        self.is_time.wait()
        self.provider.shutdown()

    def say(self) -> None:
        if not self.is_time.is_set():
            self.is_time.set()
            self.join(FLUSH_SECONDS)
