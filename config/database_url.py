"""Reads the URL of a database. What is wrong with it is said without its password."""

import re
import warnings
from typing import Any
from urllib.parse import unquote

import environ
from django.core.exceptions import ImproperlyConfigured

# A user and a password belong before the first slash. Elsewhere they would be taken for the name
# of a database, which errors quote.
MISPLACED = re.compile(r"(?!sqlite)\w+://[^/]*/[^?]*@")
KNOWN = ("django.db.backends.postgresql", "django.db.backends.sqlite3")


def read(url: str, variable: str) -> dict[str, Any]:
    database = parse(url)
    # Raised here and not where an error was caught: that error would quote the address.
    if database is None or not is_complete(database):
        raise ImproperlyConfigured(
            f"{variable} can't be read. It is postgresql://user:password@host:port/database or "
            "sqlite:////folder/file. In a user's name or a password, special characters are "
            "encoded: @ as %40, : as %3A, / as %2F, # as %23, ? as %3F, % as %25."
        )
    host = database.get("HOST", "")
    # The folder of a socket, written as in libpq: django-environ does not decode the host.
    if host.upper().startswith("%2F"):
        database["HOST"] = unquote(host)
    return database


def parse(url: str) -> dict[str, Any] | None:
    if "://" not in url or MISPLACED.match(url):
        return None
    try:
        with warnings.catch_warnings(action="ignore"):  # they quote the address too
            return dict(environ.Env.db_url_config(url))
    except Exception:  # environ and urllib raise many kinds
        return None


def is_complete(database: dict[str, Any]) -> bool:
    return database.get("ENGINE") in KNOWN and bool(database.get("NAME"))
