"""Replies when a request fails outside its view: a page for people, JSON for programs."""

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views import defaults

from guides import replies


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Reply to an unknown host name or a malformed request."""
    if is_for_programs(request):
        return replies.refusal(400, "bad_request", _("The request is malformed."))
    return defaults.bad_request(request, exception)


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


def is_for_programs(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")
