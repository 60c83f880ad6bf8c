"""Error texts that people can read, terminals can print and the database can store.

The write that records a failure must not be able to fail, so nothing here raises,
whatever the error holds: NUL, lone surrogates, ten megabytes, a `__str__` that raises.
"""

import re
import traceback

# Moves the cursor, starts a line, or turns the line around: a terminal would obey an attacker.
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
LONGEST = 4_000
LONGEST_TRACEBACK = 16_000
UNREADABLE = "(a text that could not be read)"


def message(error: BaseException) -> str:
    """What went wrong, as one readable text of at most 4 kB."""
    return clean(error) or kind(error)


def kind(error: BaseException) -> str:
    """The short class of an error, for grouping; it may name its own `kind`."""
    try:
        named = getattr(error, "kind", None)
    except BaseException:  # a property may raise anything
        named = None
    return clean(named if isinstance(named, str) and named else type(error).__name__, 100)


def class_path(error: BaseException) -> str:
    """Module and name of an error's class."""
    return clean(f"{_read(type(error).__module__)}.{type(error).__qualname__}", 300)


def full_traceback(error: BaseException) -> str:
    """The traceback; of a long one only the end, which names the place."""
    try:
        text = "".join(traceback.format_exception(error))
    except BaseException:
        text = message(error)
    return clean(text[-LONGEST_TRACEBACK:], LONGEST_TRACEBACK)


def clean(text: object, longest: int = LONGEST) -> str:
    """Cut to this many bytes of UTF-8, and replace what PostgreSQL can't store."""
    # Cut first: encoding all of a 10 MB text would be wasted.
    start = _read(text)[:longest].replace("\x00", "�")
    whole = start.encode("utf-8", "replace")
    return whole[:longest].decode("utf-8", "ignore")


def printable(text: object) -> str:
    """One line for a terminal, with every character that a terminal obeys written as its code."""
    return OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), _read(text))


def _read(text: object) -> str:
    try:
        return str(text)
    except BaseException:  # a __str__ may raise anything, even SystemExit
        return UNREADABLE
