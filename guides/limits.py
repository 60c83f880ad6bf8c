"""How much of a guide is taken, from a person or from another system."""

import unicodedata

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

MOST_BYTES = 1_000_000  # of a guide handed over
MOST_SPOTS = 500
MOST_TAGS = 20
LONGEST_TITLE = 200
LONGEST_SUMMARY = 2_000
LONGEST_DESCRIPTION = 5_000
BREAKS = "\n\r\t"


def check_text(value: str, most: int, *, lines: bool = False) -> None:
    """Refuse what is too long or can't be shown; line breaks are fine where lines are."""
    if len(value) > most:
        raise ValidationError(
            _("This has %(length)d characters; %(most)d are the most."),
            params={"length": len(value), "most": most},
        )
    for character in value:
        if lines and character in BREAKS:
            continue
        # Control characters and lone surrogates: a database may refuse them, no page shows them.
        if unicodedata.category(character) in ("Cc", "Cs"):
            raise ValidationError(
                _("This holds a character that can't be shown: %(code)s."),
                params={"code": f"U+{ord(character):04X}"},
            )
