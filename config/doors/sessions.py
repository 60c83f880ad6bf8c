"""A session ends after a day without use; pages that renew themselves are no use."""

from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from jobs.admin import live

USED_AT = "used_at"


def middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def prolong(request: HttpRequest) -> HttpResponse:
        if settings.SESSION_COOKIE_NAME in request.COOKIES and is_a_person(request):
            note_use(request)
        return get_response(request)

    return prolong


def is_a_person(request: HttpRequest) -> bool:
    renews = "HX-Request" in request.headers or live.ASKS in request.headers
    return not renews and request.path != reverse("admin:console")


def note_use(request: HttpRequest) -> None:
    """Save the session, which prolongs it, but not for every request."""
    if SESSION_KEY not in request.session:
        return
    now = int(timezone.now().timestamp())
    unsaved = now - request.session.get(USED_AT, 0)
    if not 0 <= unsaved < settings.SESSION_COOKIE_AGE / 24:
        request.session[USED_AT] = now
