"""Notes logins and failed ones in the log and in the audit, whichever way people log in."""

import logging
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.translation import gettext_noop

from config.doors import limiter, sessions
from config.doors.addresses import address_of
from config.doors.login import limits_of
from jobs.console import audit
from jobs.console.sentences import sentence

log = logging.getLogger(__name__)

UNKNOWN = sentence(gettext_noop("an unknown address"))
LOGGED_IN = sentence(gettext_noop("Logged in from %(address)s."))
FAILED = sentence(gettext_noop("Login failed from %(address)s: %(tries)s in a row."))


@receiver(user_logged_in)
def note_login(request: HttpRequest, user: User, **_: Any) -> None:
    sessions.note_use(request)
    if "REMOTE_ADDR" not in request.META:  # a script, not a person
        return
    address = address_of(request) or UNKNOWN
    log.info("%s logged in from %s", ascii(user.get_username()), address)
    audit.note(user, [user], LOGGED_IN % {"address": address})


@receiver(user_login_failed)
def note_failure(credentials: dict[str, Any], request: HttpRequest | None, **_: Any) -> None:
    """Name only users that exist: people type passwords into the field for names."""
    name = str(credentials.get("username", ""))
    address = (address_of(request) if request else "") or UNKNOWN
    user = User.objects.filter(username=name).first() if "\x00" not in name else None
    log.warning("Login failed for %s from %s", ascii(name) if user else "no known user", address)
    if user and request:
        tries = limiter.tries_of(limits_of(request, name)[0])
        if not tries & (tries - 1):  # 1, 2, 4, 8: a long attack must not fill the audit
            audit.note(user, [user], FAILED % {"address": address, "tries": max(tries, 1)})
