"""Replies when a request fails outside its view: a page for people, JSON for programs."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views import defaults

from guides import replies

BUSY_SECONDS = 5


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Reply to an unknown host name or a malformed request.

    A BadRequest says in its text what is wrong; other errors may repeat what was sent.
    """
    said = str(exception) if isinstance(exception, BadRequest) else ""
    text = said or _("The request is malformed.")
    return problem(request, 400, "bad_request", _("This can’t be read"), text)


def too_many_requests(request: HttpRequest, seconds: int) -> HttpResponse:
    text = _("That was faster than this site can answer. Please wait %(seconds)d s.")
    text %= {"seconds": seconds}
    title = _("One step at a time")
    return after(seconds, problem(request, 429, "too_many_requests", title, text))


def busy(request: HttpRequest) -> HttpResponse:
    """Reply when the database kept a page waiting for too long."""
    text = _("The database is busy, so this page took too long. Please try again in a moment.")
    return after(BUSY_SECONDS, problem(request, 503, "busy", _("A long queue at the gate"), text))


def server_error(request: HttpRequest) -> HttpResponse:
    if is_for_programs(request):
        return replies.refusal(500, "server_error", _("Something went wrong on our side."))
    return defaults.server_error(request)


def problem(request: HttpRequest, status: int, code: str, title: str, text: str) -> HttpResponse:
    if is_for_programs(request):
        return replies.refusal(status, code, text)
    # Without the request: reading its form or its user again could fail again.
    page = render_to_string("problem.html", {"status": status, "heading": title, "text": text})
    return HttpResponse(page, status=status, headers={"Cache-Control": "no-store"})


def after(seconds: int, response: HttpResponse) -> HttpResponse:
    response.headers["Retry-After"] = str(seconds)
    return response


def is_for_programs(request: HttpRequest) -> bool:
    return request.path.startswith(("/api/", "/internal/"))
