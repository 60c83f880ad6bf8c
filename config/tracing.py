"""The trace of a web request: that of its caller, or a new one."""

from collections.abc import Callable
from typing import Any

from django.core.signals import request_finished
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

from jobs import spans, tracing
from jobs.models import uuid7

PROBES = ("/healthz", "/readyz", "/metrics")  # asked every few seconds: they have no span


def middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def trace(request: HttpRequest) -> HttpResponse:
        # A new id begins with the time: the index of traces then grows at its end.
        tracing.begin(request.headers.get("traceparent"), spans.around() or uuid7().hex)
        if request.path in PROBES:
            return get_response(request)
        with spans.request(request.method or "", request.path) as span:
            response = get_response(request)
            describe(span, request, response)
        if response.status_code >= 500:
            response.headers["X-Trace-Id"] = tracing.trace_id.get()
        return response

    return trace


def describe(span: spans.Opened, request: HttpRequest, response: HttpResponse) -> None:
    status = response.status_code
    span.note({"http.response.status_code": status})
    if request.resolver_match:
        route = f"/{request.resolver_match.route}"
        span.note({"http.route": route})
        span.rename(f"{request.method} {route}")
    if status >= 500:
        span.fail(str(status))


@receiver(request_finished)  # not in the middleware: Django logs an error after all of them
def forget(**_: Any) -> None:
    tracing.end()
