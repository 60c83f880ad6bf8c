"""What a guide and its spots may hold; a refusal names the value and the rule."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

MOST_BYTES = 1_000_000  # in the body of a handed-over guide
MOST_SPOTS = 500
MOST_TAGS = 20
LONGEST_TITLE = 200
LONGEST_SUMMARY = 2_000
LONGEST_SPOT_NAME = 200
LONGEST_DESCRIPTION = 5_000
LONGEST_TAG = 50
BREAKS = "\n\r\t\u2028\u2029"
# Embeddings, overrides and isolates: after one of them a line runs the other way.
TURNS = {*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}
# Letters and symbols that draw nothing: Hangul fillers, an empty Braille cell.
BLANKS = {*"\u115f\u1160\u3164\uffa0\u2800"}
TAKEN = {"new"}  # guides/new/ is where guides are made

# An allow-list, so that javascript:, data: and //elsewhere are never addresses of pictures.
# The expression means the same in Python and in both databases.
ADDRESS = r"\A(?:[hH][tT][tT][pP][sS]?://[^\s/\\][^\s\\]*|/[^\s/\\][^\s\\]*)\Z"


def check_text(value: str, most: int, *, lines: bool = False) -> None:
    """Refuse text that is too long, can't be shown, or deceives; `lines` allows several lines."""
    if len(value) > most:
        raise ValidationError(
            _("At most %(most)d characters; this has %(length)d."),
            params={"length": len(value), "most": most},
        )
    check_characters(value, BREAKS if lines else "")
    # In a paragraph they do no harm, and other programs copy them along.
    if not lines and (turn := next((each for each in value if each in TURNS), "")):
        raise ValidationError(
            _("It contains a character that turns the line around: %(code)s."), params=named(turn)
        )
    if value.strip() and not is_visible(value):
        raise ValidationError(_("It contains only characters that can't be seen."))


def check_characters(value: str, allowed: str = "") -> None:
    """Refuse what a database may refuse or no page shows: control characters, lone surrogates."""
    for character in value:
        is_bad = unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        if is_bad and character not in allowed:
            raise ValidationError(
                _("It contains a character that can't be shown: %(code)s."), params=named(character)
            )


def named(character: str) -> dict[str, str]:
    return {"code": f"U+{ord(character):04X}"}


def is_visible(value: str) -> bool:
    """Whether anything is drawn: a letter, a digit, a sign or a symbol."""
    return any(
        unicodedata.category(character)[0] in "LNPS" and character not in BLANKS
        for character in value
    )


def validate_plan_id(value: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", value):
        raise ValidationError(
            _("%(value)r is not a plan id: 1 to 100 letters, digits, - and _."),
            params={"value": value[:120]},
        )
    if value in TAKEN:
        raise ValidationError(
            _("%(value)r is the address of another page."), params={"value": value}
        )


def is_plan_id(value: str) -> bool:
    """Whether a guide could have this id; a database may raise an error for other text."""
    try:
        validate_plan_id(value)
    except ValidationError:
        return False
    return True


def validate_spot_name(value: str) -> None:
    if not value.strip():
        raise ValidationError(_("A spot needs a name."))
    if len(value) > LONGEST_SPOT_NAME:
        raise ValidationError(
            _("A name has at most %(most)d characters; %(start)r… has %(length)d characters."),
            params={"start": value[:20], "length": len(value), "most": LONGEST_SPOT_NAME},
        )
    check_text(value, LONGEST_SPOT_NAME)


def validate_tags(value: object) -> None:
    if not isinstance(value, list | tuple) or not all(isinstance(tag, str) for tag in value):
        raise ValidationError(
            _("Tags must be a list of texts, not %(value)s."), params={"value": repr(value)[:80]}
        )
    for tag in value:
        check_characters(tag)  # no limit: long tags are cut


def limit_tags(tags: Sequence[str]) -> None:
    if len(tags) > MOST_TAGS:
        raise ValidationError(
            _("At most %(most)d tags; these are %(count)d."),
            params={"most": MOST_TAGS, "count": len(tags)},
        )


def tidy_tags(tags: Iterable[str] | None) -> list[str]:
    """Normalize, trim, deduplicate and sort: the same tags always give the same list."""
    tags = tags or []
    validate_tags(tags)
    normal = (unicodedata.normalize("NFKC", tag).strip() for tag in tags)
    return sorted({tag[:LONGEST_TAG].rstrip() for tag in normal} - {""})


def address(image_url: str) -> str:
    """The picture's address, on the web or this site; empty if it is anything else."""
    return image_url if re.match(ADDRESS, image_url) else ""


def validate_image_url(value: str) -> None:
    if value and not address(value):
        raise ValidationError(
            _("%(value)r is no address of a picture. It must begin with https://, http:// or /."),
            params={"value": value[:80]},
        )
