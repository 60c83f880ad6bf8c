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
BREAKS = "\n\r\t"
TAKEN = {"new"}  # guides/new/ is where guides are made

# An allow-list, so that javascript:, data: and //elsewhere are never addresses of pictures.
# The expression means the same in Python and in both databases.
ADDRESS = r"\A(?:[hH][tT][tT][pP][sS]?://[^\s/\\][^\s\\]*|/[^\s/\\][^\s\\]*)\Z"


def check_text(value: str, most: int, *, lines: bool = False) -> None:
    """Refuse text that is too long or can't be shown; `lines` allows line breaks and tabs."""
    if len(value) > most:
        raise ValidationError(
            _("At most %(most)d characters; this has %(length)d."),
            params={"length": len(value), "most": most},
        )
    for character in value:
        if lines and character in BREAKS:
            continue
        # Control characters and lone surrogates: a database may refuse them, no page shows them.
        if unicodedata.category(character) in ("Cc", "Cs"):
            raise ValidationError(
                _("It contains a character that can't be shown: %(code)s."),
                params={"code": f"U+{ord(character):04X}"},
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
        check_text(tag, most=len(tag))  # no limit: long tags are cut


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
