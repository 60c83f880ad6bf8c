"""EMAIL_URL: how this site sends e-mail."""

from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

KNOWN = ["smtp", "smtp+tls", "smtp+ssl", "consolemail"]


def read(url: str, *, is_needed: bool) -> dict[str, Any]:
    """Django's settings for e-mail. A refusal never quotes the address: it holds a password."""
    url = url.strip()
    if not url:
        if is_needed:
            raise ImproperlyConfigured(
                "ALERT_EMAILS needs EMAIL_URL, as in smtp+tls://user:password@mail.example.org:587."
            )
        return {}
    try:
        parts = urlsplit(url)
        has_place = bool(parts.hostname) or parts.scheme == "consolemail"
        is_good = parts.scheme in KNOWN and has_place and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        raise ImproperlyConfigured(
            "EMAIL_URL: it must be as in smtp+tls://user:password@mail.example.org:587, with"
            f" special characters encoded (@ as %40). Known are {', '.join(KNOWN)}."
        )
    found: dict[str, Any] = environ.Env.email_url_config(url)
    usual = {"EMAIL_HOST": "localhost", "EMAIL_PORT": 25}
    named = {name: value for name, value in found.items() if name.startswith("EMAIL_")}
    return {name: value or usual.get(name, "") for name, value in named.items()}
