"""What names may look like, said clearly when they don't."""

import re
import secrets
import unicodedata
from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

LONGEST_SPOT_NAME = 200
LONGEST_TAG = 50
TAKEN = {"new"}  # guides/new/ is where guides are made


def new_plan_id() -> str:
    """128 random bits: nobody guesses the address of somebody else's guide."""
    return secrets.token_hex(16)


def validate_plan_id(value: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", value):
        raise ValidationError(
            _("%(value)r: a plan id has 1 to 100 letters, digits, - and _."),
            params={"value": value[:120]},
        )
    if value in TAKEN:
        raise ValidationError(
            _("%(value)r is the address of another page."), params={"value": value}
        )


def validate_spot_name(value: str) -> None:
    if not value.strip():
        raise ValidationError(_("A spot needs a name."))
    if len(value) > LONGEST_SPOT_NAME:
        raise ValidationError(
            _("The name %(start)r… has %(length)d characters; %(most)d are the most."),
            params={"start": value[:20], "length": len(value), "most": LONGEST_SPOT_NAME},
        )
    refuse_unprintable(value)


def refuse_unprintable(value: str) -> None:
    for character in value:
        # Control characters and lone surrogates: a database may refuse them, no page shows them.
        if unicodedata.category(character) in ("Cc", "Cs"):
            raise ValidationError(
                _("The name %(value)r holds a character that can't be shown: %(code)s."),
                params={"value": value, "code": f"U+{ord(character):04X}"},
            )


def validate_tags(value: object) -> None:
    if not isinstance(value, list | tuple) or not all(isinstance(tag, str) for tag in value):
        raise ValidationError(
            _("Tags are a list of texts, not %(value)r."), params={"value": value}
        )
    for tag in value:
        refuse_unprintable(tag)


def tidy_tags(tags: Iterable[str] | None) -> list[str]:
    """Normal form, trimmed, without doubles, sorted: the same tags are always the same list."""
    tags = tags or []
    validate_tags(tags)
    tidy = {unicodedata.normalize("NFKC", tag).strip()[:LONGEST_TAG] for tag in tags}
    return sorted(tidy - {""})
