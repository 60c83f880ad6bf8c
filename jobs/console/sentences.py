"""Sentences about what people did: stored in English, shown in the reader's language."""

import re
from datetime import datetime

from django.utils.translation import gettext, gettext_noop

# Letters of a sentence: a reason of 500, and the words around it. Errors that anybody caused come
# here too: a long one, made for that, would keep a pattern with four values busy for seconds.
LONGEST = 600

_known: list[tuple[str, re.Pattern[str]]] = []


def sentence(pattern: str) -> str:
    """Make a pattern known, so that `told` translates what it made.

    Its values are %s, or have names: %(name)s.
    """
    values = re.sub(r"%\\\((\w+)\\\)s", r"(?P<\1>.*?)", re.escape(pattern))
    values = values.replace("%s", "(.*?)")
    _known.append((pattern, re.compile(values, re.DOTALL)))
    return pattern


CANCELED = sentence(gettext_noop("Canceled by %s."))
PAUSED = sentence(gettext_noop("Paused by %s."))
# The first one that fits is used: "resumed" is no time.
PAUSED_UNTIL_RESUMED = sentence(gettext_noop("Paused until resumed: %s"))
PAUSED_UNTIL = sentence(gettext_noop("Paused until %s: %s"))
RESUMED = gettext_noop("Resumed.")
# Of one job. Both changes come first: the last value of a pattern takes whatever follows.
RESCHEDULED = sentence(gettext_noop("Not before %s instead of %s, and priority %s instead of %s."))
RETIMED = sentence(gettext_noop("Not before %s instead of %s."))
REORDERED = sentence(gettext_noop("Priority %s instead of %s."))
# Of many jobs, whose old values differ.
MANY_RESCHEDULED = sentence(gettext_noop("Not before %s now, and priority %s."))
MANY_RETIMED = sentence(gettext_noop("Not before %s now."))
MANY_REORDERED = sentence(gettext_noop("Priority %s now."))


def paused(until: datetime | None, reason: str) -> str:
    return PAUSED_UNTIL % (until, reason) if until else PAUSED_UNTIL_RESUMED % reason


def told(text: str) -> str:
    """A stored sentence in the reader's language; any other text as it is."""
    return _refilled(text) or gettext(text)


def _refilled(text: str) -> str:
    """The translated pattern with the same values; empty if no pattern fits.

    A value may be a sentence, but no single word: a person may be called "name".
    """
    if len(text) > LONGEST:
        return ""
    for pattern, values in _known:
        if found := values.fullmatch(text):
            named = {name: _refilled(text) or text for name, text in found.groupdict().items()}
            return gettext(pattern) % (
                named or tuple(_refilled(value) or value for value in found.groups())
            )
    return ""
