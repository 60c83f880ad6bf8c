"""Settings that would leave a server unprotected are refused with a sentence."""

import re

from django.core.exceptions import ImproperlyConfigured
from django.views.debug import SafeExceptionReporterFilter

INSECURE = "django-insecure-"
SHORTEST_KEY = 32
FEWEST_LETTERS = 5  # different ones
PLACEHOLDER = re.compile(rf"change.?me|{INSECURE}", re.IGNORECASE)
MAKE_KEY = "python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"


def refuse_without(secret_key: str, hosts: list[str], database_url: str) -> None:
    """Name all missing and all unsafe settings at once, so that one restart is enough."""
    missing = []
    if PLACEHOLDER.search(secret_key):
        missing.append(f"SECRET_KEY: a long, random, secret text. One is printed by {MAKE_KEY}")
    elif len(secret_key) < SHORTEST_KEY or len(set(secret_key)) < FEWEST_LETTERS:
        missing.append(
            f"SECRET_KEY: this one can be guessed. It needs at least {SHORTEST_KEY} random "
            f"characters. One is printed by {MAKE_KEY}"
        )
    if not hosts:
        missing.append("ALLOWED_HOSTS: the host names of this site, separated by commas")
    elif any("*" in host for host in hosts):
        missing.append(
            "ALLOWED_HOSTS: * would let anybody choose the site's name. Name the hosts; "
            ".example.org stands for all names below example.org"
        )
    if not database_url:
        missing.append("DATABASE_URL: postgresql://user:password@host/database")
    if missing:
        lines = "\n".join(f"  {line}" for line in missing)
        raise ImproperlyConfigured(
            f"With DEBUG off these must be set, in the environment or in .env:\n{lines}\n"
            "For development set DEBUG=true instead."
        )


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


class ReportFilter(SafeExceptionReporterFilter):
    """Hides DATABASE_URL too on Django's debug pages: it holds a password."""

    hidden_settings = re.compile(
        f"{SafeExceptionReporterFilter.hidden_settings.pattern}|DATABASE_URL", re.IGNORECASE
    )
