"""Which bodies of requests are read: all others are refused by their headers, before any byte."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from config import errors

MOST_FROM_STRANGERS = 64 * 1024  # the login's form needs far less


def middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def check(request: HttpRequest) -> HttpResponse:
        if "Transfer-Encoding" in request.headers:
            # Django does not read chunked bodies, and their size is unknown.
            text = _("Send the request with its Content-Length.")
            return errors.problem(request, 411, "length_required", _("How long is it?"), text)
        length = request.META.get("CONTENT_LENGTH") or ""
        size = int(length[:20]) if length.isdecimal() else 0
        if size > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            text = _("A request has at most %(most)d bytes.")
            return too_large(request, text, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        if size > MOST_FROM_STRANGERS and not may_send_much(request):
            text = _("Log in to send more than %(most)d bytes.")
            return too_large(request, text, MOST_FROM_STRANGERS)
        return get_response(request)

    return check


def may_send_much(request: HttpRequest) -> bool:
    """Staff may, and programs: the API checks their token before it reads a body."""
    return errors.is_for_programs(request) or request.user.is_authenticated


def too_large(request: HttpRequest, text: str, most: int) -> HttpResponse:
    return errors.problem(request, 413, "too_large", _("Too heavy to carry"), text % {"most": most})
