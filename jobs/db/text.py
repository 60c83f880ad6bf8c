"""Texts of errors, made fit for people and for the database.

The write that records a failure must not be able to fail, so nothing here raises,
whatever the error holds: NUL, lone surrogates, ten megabytes, a `__str__` that fails.
"""

import traceback

LONGEST = 4_000
LONGEST_TRACEBACK = 16_000


def message(error: BaseException) -> str:
    """What went wrong, as one readable text of at most 4 kB."""
    try:
        text = str(error)
    except Exception:
        text = "(the error's own text could not be read)"
    return clean(text) or kind(error)


def kind(error: BaseException) -> str:
    """The short class of an error, for grouping; it may name its own `kind`."""
    named = getattr(error, "kind", None)
    return clean(named if isinstance(named, str) and named else type(error).__name__, 100)


def full_traceback(error: BaseException) -> str:
    """The traceback; of a long one its end, which names the place."""
    try:
        text = "".join(traceback.format_exception(error))
    except Exception:
        text = message(error)
    return clean(text[-LONGEST_TRACEBACK:], LONGEST_TRACEBACK)


def clean(text: object, longest: int = LONGEST) -> str:
    """Cut to so many bytes of UTF-8; what PostgreSQL can't store is replaced."""
    # Cut first: a 10 MB text is not worth encoding whole.
    start = str(text)[:longest].replace("\x00", "�")
    whole = start.encode("utf-8", "replace")
    return whole[:longest].decode("utf-8", "ignore")
