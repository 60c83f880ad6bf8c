"""Settings that would leave a server unprotected are refused with a sentence."""

import os
import re
from collections.abc import Iterable
from importlib.util import find_spec
from ipaddress import ip_network
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email
from django.views.debug import SafeExceptionReporterFilter

from config.database_names import Choice

INSECURE = "django-insecure-"
SHORTEST_KEY = 32
FEWEST_LETTERS = 5  # different ones
PLACEHOLDER = re.compile(rf"change.?me|{INSECURE}", re.IGNORECASE)
MAKE_KEY = "python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"


def refuse_without(
    secret_key: str, hosts: list[str], database: Choice, old_keys: Iterable[str] = ()
) -> None:
    """Name all missing and all unsafe settings at once, so that one restart is enough."""
    missing = []
    if PLACEHOLDER.search(secret_key):
        missing.append(f"SECRET_KEY: a long, random, secret text. One is printed by {MAKE_KEY}")
    elif can_be_guessed(secret_key):
        missing.append(
            f"SECRET_KEY: this one can be guessed. It needs at least {SHORTEST_KEY} random "
            f"characters. One is printed by {MAKE_KEY}"
        )
    if any(can_be_guessed(key) for key in old_keys):
        missing.append(
            "SECRET_KEY_FALLBACKS: one of these can be guessed, so an attacker could sign with it. "
            "Remove it; people log in again"
        )
    if not hosts:
        missing.append("ALLOWED_HOSTS: the host names of this site, separated by commas")
    elif any("*" in host for host in hosts):
        missing.append(
            "ALLOWED_HOSTS: * would let any visitor choose the site's name. Name the hosts; "
            ".example.org stands for all names below example.org"
        )
    if not database.url:
        missing.append(database.missing)
    if missing:
        lines = "\n".join(f"  {line}" for line in missing)
        raise ImproperlyConfigured(
            f"With DEBUG off these must be set, in the environment or in .env:\n{lines}\n"
            "For development set DEBUG=true instead."
        )


def can_be_guessed(key: str) -> bool:
    is_simple = len(key) < SHORTEST_KEY or len(set(key)) < FEWEST_LETTERS
    return is_simple or bool(PLACEHOLDER.search(key))


def networks(text: str) -> list[str]:
    """Addresses or networks, separated by commas; a mistyped one stops the start, not a page."""
    named = [each.strip() for each in text.split(",") if each.strip()]
    try:
        for each in named:
            ip_network(each)
    except ValueError as error:
        raise ImproperlyConfigured(f"TRUSTED_PROXIES: {error}.") from None
    return named


def check_limit(name: str, value: float, most: int) -> None:
    if not 0 <= value <= most:
        raise ImproperlyConfigured(f"{name}={value:g}: it must be from 0 (no limit) to {most}.")


def check_choice(name: str, value: str, known: list[str]) -> None:
    if value not in known:
        raise ImproperlyConfigured(f"{name}={value}: known are {', '.join(known)}.")


def contact(text: str) -> str:
    """Where holes are reported, as a URI; an e-mail address becomes one."""
    text = text.strip()
    if not text or re.fullmatch(r"(https://|mailto:|tel:)\S+", text):
        return text
    if re.fullmatch(r"[^\s@:/]+@[^\s@:/]+", text):
        return f"mailto:{text}"
    raise ImproperlyConfigured(
        "SECURITY_CONTACT: an e-mail address, or an address that begins with https://."
    )


def secret(name: str, *, danger: str, shortest: int = 32) -> str:
    """The secret in this variable, which can't be guessed; or none."""
    # Not through environ's Env: it reads a leading "$" as the name of another variable.
    text = os.environ.get(name, "").strip()
    if text and len(text) < shortest:
        raise ImproperlyConfigured(
            f"{name} is too short: an attacker who guesses it can {danger}."
            f" Take at least {shortest} random characters:"
            ' python3 -c "import secrets; print(secrets.token_urlsafe(32))"'
        )
    return text


def check_package(name: str, value: str, module: str, extra: str) -> None:
    """Refuse a setting whose package is missing, before the first request finds that out."""
    if value and find_spec(module) is None:
        raise ImproperlyConfigured(
            f"{name} is set, but its package is missing. Install it with\n"
            f"  pip install --require-hashes -r requirements-{extra}.txt\nor unset {name}."
        )


def address(name: str, text: str) -> str:
    """An address of http or https. It may hold a secret, so no refusal quotes it."""
    text = text.strip()
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that is not closed
        is_good = False
    if not is_good or not re.fullmatch(r"[!-~]+", text):
        raise ImproperlyConfigured(
            f"{name}: it must be an address as in https://example.org/…, of ASCII letters. "
            "(It is not shown here, because it may hold a secret.)"
        )
    if parts.username is not None or parts.fragment:
        raise ImproperlyConfigured(
            f"{name}: an address with neither a user nor a #fragment. A token belongs into its "
            "path or its query, as its receiver says."
        )
    return text


def receivers(name: str, text: str) -> list[str]:
    """E-mail addresses, separated by commas."""
    named = [each.strip() for each in text.split(",") if each.strip()]
    for each in named:
        try:
            validate_email(each)
        except ValidationError:
            raise ImproperlyConfigured(f"{name}={each}: it is no e-mail address.") from None
    return named


class ReportFilter(SafeExceptionReporterFilter):
    """Hides these on Django's debug pages too: an address may hold a password or a token."""

    hidden_settings = re.compile(
        f"{SafeExceptionReporterFilter.hidden_settings.pattern}"
        r"|DATABASES?_(\w+_)?URL|WEBHOOK|EMAIL_URL",
        re.IGNORECASE,
    )
