"""The login of the console: wrong passwords make the next try wait.

Three counts, so that guessing is slow and a person is never locked out because others guess:
a name at one address waits up to 15 minutes, an address up to a minute, a name everywhere only
seconds. A browser that has logged in before has a cookie and is counted alone.
"""

import logging
import math
import unicodedata
from datetime import timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.signing import BadSignature
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import get_random_string
from django.utils.translation import gettext as _
from unfold.forms import AuthenticationForm

from config import database_names
from config.doors import hashing, limiter
from config.doors.addresses import address_of, group_of
from config.doors.limiter import Limit, Rule

log = logging.getLogger(__name__)

OWN = Rule("login", free=5, longest=timedelta(minutes=15))
ADDRESS = Rule("login address", free=20, longest=timedelta(minutes=1))
NAME = Rule("login name", free=20, longest=timedelta(seconds=5))

# The cookie of a browser that has logged in before.
BROWSER = database_names.cookie("browser", settings.DATABASE)
REMEMBER = timedelta(days=90)
BUSY_SECONDS = 5


class LoginForm(AuthenticationForm):  # type: ignore[misc]
    """Checks a password only when it is this client's turn."""

    status = 200
    retry_after = 0

    def clean(self) -> dict[str, Any]:
        name = self.cleaned_data.get("username")
        if name is None or not self.cleaned_data.get("password"):
            return self.check()
        limits = limits_of(self.request, name)
        self.refuse_for(limiter.wait_for(*limits))  # before it takes a place in the line
        try:
            with hashing.turn(is_known=bool(known_browser(self.request, folded(name)))):
                self.refuse_for(limiter.count(*limits))
                cleaned = self.check()
        except hashing.Busy:
            text = _("The login is busy. Try again in a few seconds.")
            self.refuse(503, BUSY_SECONDS, text)
        limiter.forgive(*limits)
        return cleaned

    def check(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean()
        return cleaned

    def refuse_for(self, wait: timedelta) -> None:
        if wait > limiter.NONE:
            seconds = math.ceil(wait.total_seconds())
            log.warning("Login from %s refused for %d s", address_of(self.request), seconds)
            text = _("Too many wrong passwords. Try again in %(seconds)d s.")
            self.refuse(429, seconds, text % {"seconds": seconds})

    def refuse(self, status: int, seconds: int, text: str) -> Any:
        self.status, self.retry_after = status, seconds
        raise forms.ValidationError(text)


def page(request: HttpRequest) -> HttpResponse:
    """The admin's login page; a refused try says when to come back."""
    response: HttpResponse = admin.site.login(request)
    form = (getattr(response, "context_data", None) or {}).get("form")
    if isinstance(form, LoginForm) and form.retry_after:
        response.status_code = form.status
        response.headers["Retry-After"] = str(form.retry_after)
    elif request.method == "POST" and request.user.is_authenticated:
        remember(response, request)
    return response


# Who is counted


def limits_of(request: HttpRequest, name: str) -> list[Limit]:
    """The counts of this try, its own first."""
    name = folded(name)
    if browser := known_browser(request, name):
        return [Limit(OWN, f"{name} {browser}")]
    address = group_of(address_of(request))
    if not address:  # all clients would be counted as one, for the long waits too
        return [Limit(NAME, name)]
    return [Limit(OWN, f"{name} {address}"), Limit(NAME, name), Limit(ADDRESS, address)]


def folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().strip()


def known_browser(request: HttpRequest, name: str) -> str:
    """The number of a browser in which this person has logged in before."""
    try:
        return request.get_signed_cookie(BROWSER, salt=name, max_age=REMEMBER) or ""
    except (KeyError, BadSignature):
        return ""


def remember(response: HttpResponse, request: HttpRequest) -> None:
    name = folded(request.user.get_username())
    response.set_signed_cookie(
        BROWSER,
        known_browser(request, name) or get_random_string(16),
        salt=name,
        max_age=REMEMBER,
        path=request.path,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
