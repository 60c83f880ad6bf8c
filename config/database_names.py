"""Which database this process serves, of those that the settings name (docs/databases.md).

DATABASES_TOKYO_URL names the database `tokyo`. DATABASE=tokyo in the environment chooses it, and so
does `--database tokyo` in any command. DATABASE_URL is the database without a name.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured

from config import database_url

NAMELESS = "DATABASE_URL"
VARIABLE = re.compile(r"DATABASES_([A-Z0-9_]+)_URL")
NAME = re.compile(r"[a-z0-9_]+")
DJANGOS = "default"  # what Django calls the only database of a process
LIKE = "postgresql://user:password@host/database"


@dataclass(frozen=True)
class Choice:
    name: str  # empty: the database without a name
    variable: str
    url: str

    @property
    def missing(self) -> str:
        """What is said where a URL is needed and there is none."""
        named = "" if self.name or not known() else f", or DATABASE: one of {listed()}"
        return f"{self.variable}: {LIKE}{named}"


def known() -> dict[str, str]:
    """The variables of all databases that have a name, by name."""
    found = {match[1].lower(): match[0] for match in map(VARIABLE.fullmatch, os.environ) if match}
    if DJANGOS in found:
        raise ImproperlyConfigured(
            f"{found[DJANGOS]}: take another name. Django calls every database that a process "
            f"serves {DJANGOS!r}."
        )
    return dict(sorted(found.items()))


def listed() -> str:
    return ", ".join(known()) or "none"


def read(variable: str) -> str:
    return str(environ.Env().str(variable, ""))


def choose(name: str) -> Choice:
    name = name.strip().lower()
    variables = {"": NAMELESS, **known()}
    if name not in variables:
        # The value may be a URL by mistake, with a password in it.
        quoted = f" {name!r}" if NAME.fullmatch(name) else " of this name"
        raise ImproperlyConfigured(
            f"There is no database{quoted}. Known: {listed()}. A variable such as "
            "DATABASES_TOKYO_URL names one, with letters from A to Z, digits and underscores."
        )
    choice = Choice(name, variables[name], read(variables[name]))
    refuse_shared(choice)
    return choice


def refuse_shared(choice: Choice) -> None:
    """Refuse a database with two names: each would look for its files in another place."""
    own = place(choice.url)
    for variable in (NAMELESS, *known().values()):
        if own and variable != choice.variable and place(read(variable)) == own:
            raise ImproperlyConfigured(
                f"{choice.variable} and {variable} lead to the same database: remove one of them."
            )


def place(url: str) -> tuple[str, ...] | None:
    database = database_url.parse(url) or {}
    if "sqlite" in database.get("ENGINE", ""):
        return (str(Path(database["NAME"]).resolve()),)
    parts = [str(database.get(part) or "") for part in ("HOST", "PORT", "NAME")]
    return (parts[0].lower(), parts[1] or "5432", parts[2]) if parts[2] else None


def take(arguments: list[str]) -> list[str]:
    """Take `--database NAME` out of a command, wherever it stands, and choose that database.

    `--database default` stays: it is Django's own. What follows `--` is for another program.
    """
    left: list[str] = []
    words = iter(arguments)
    for word in words:
        option, has_name, name = word.partition("=")
        if word == "--":
            return [*left, word, *words]
        if option != "--database":
            left.append(word)
            continue
        name = name if has_name else next(words, "")
        if not name:  # perhaps a variable of a script that is not set
            raise ImproperlyConfigured("--database needs a name, as in --database tokyo.")
        if name == DJANGOS:
            left += [option, name]
        else:
            os.environ["DATABASE"] = name
    return left


def cookie(kind: str, name: str) -> str:
    """The name of a cookie. Browsers send a cookie to every port of a host, so to every site."""
    return f"{kind}_{name}" if name else kind
