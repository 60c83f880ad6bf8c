"""The trace id of a web request: that of its caller, or a new one."""

import re
import secrets
from collections.abc import Callable
from typing import Any

from django.core.signals import request_finished
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

from jobs import tracing

# https://www.w3.org/TR/trace-context/: version, trace, parent, flags. Zeros are no id.
TRACEPARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


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
    found = TRACEPARENT.fullmatch(traceparent)
    return found[1] if found else secrets.token_hex(16)
