"""The trace id of a web request: that of its caller, or a new one."""

import secrets
from collections.abc import Callable
from typing import Any

from django.core.signals import request_finished
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

from jobs import tracing


def middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def trace(request: HttpRequest) -> HttpResponse:
        tracing.trace_id.set(trace_of(request.headers.get("traceparent", "")))
        return get_response(request)

    return trace


@receiver(request_finished)  # not in the middleware: Django logs an error after all of them
def forget(**_: Any) -> None:
    tracing.trace_id.set("")


def trace_of(traceparent: str) -> str:
    return tracing.trace_of(traceparent) or secrets.token_hex(16)
