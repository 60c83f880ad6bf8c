"""Sentences about what people did: stored in English, shown in the reader's language."""

import re
from datetime import datetime

from django.utils.translation import gettext, gettext_noop

_known: list[tuple[str, re.Pattern[str]]] = []


def sentence(pattern: str) -> str:
    """Make a pattern with %s for its values known, so that `told` translates what it made."""
    values = re.escape(pattern).replace("%s", "(.*?)")
    _known.append((pattern, re.compile(values, re.DOTALL)))
    return pattern


CANCELED = sentence(gettext_noop("Canceled by %s."))
PAUSED = sentence(gettext_noop("Paused by %s."))
# The first one that fits is used: "resumed" is no time.
PAUSED_UNTIL_RESUMED = sentence(gettext_noop("Paused until resumed: %s"))
PAUSED_UNTIL = sentence(gettext_noop("Paused until %s: %s"))


def paused(until: datetime | None, reason: str) -> str:
    return PAUSED_UNTIL % (until, reason) if until else PAUSED_UNTIL_RESUMED % reason


def told(text: str) -> str:
    """A stored sentence in the reader's language; any other text as it is."""
    return _refilled(text) or gettext(text)


def _refilled(text: str) -> str:
    """The translated pattern with the same values; empty if no pattern fits.

    A value may be a sentence, but no single word: a person may be called "name".
    """
    for pattern, values in _known:
        if found := values.fullmatch(text):
            return gettext(pattern) % tuple(_refilled(value) or value for value in found.groups())
    return ""
