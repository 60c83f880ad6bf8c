"""Whether what a model answered can be shown as a translation."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from guides import languages
from guides.derived import plain_text
from guides.translation.texts import has_lines


class Fault(models.TextChoices):
    """Why a text has no translation although it was asked for."""

    REQUEST = "request", _("the request failed")
    EMPTY = "empty", _("the answer was empty")
    TOO_LONG = "too_long", _("the answer was too long")
    LANGUAGE = "language", _("the answer was in another language")
    NOT_KEPT = "not_kept", _("the answer could not be saved")


def checked(answer: object, key: str, language: str, most: int) -> tuple[str, Fault]:
    """The words that can be shown; else empty, and why.

    A text that is too long is refused and not cut: half a translation would pass for a whole one.
    """
    words = plain_text.plain(answer, plain_text.MOST_READ, lines=has_lines(key))
    if not words:
        return "", Fault.EMPTY
    if len(words) > most:
        return "", Fault.TOO_LONG
    if not languages.can_be(words, language):
        return "", Fault.LANGUAGE
    return words, Fault.REQUEST
