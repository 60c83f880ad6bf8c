"""Readable addresses of new guides: kyoto-in-two-days-x7k2."""

import re
import secrets

from django.db.models import Q
from django.utils.text import slugify

from guides.models import Guide

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # without l, 1, i, o and 0
DRAFT = 24  # letters: nobody guesses them, and no two drafts get the same
ENDS = (4, 8, DRAFT)  # how much of a draft ends its guide's address
FEWEST_LETTERS = 3
LONGEST = 60
NAMELESS = "guide"


def new_draft() -> str:
    """The name of a form that was opened: sent twice, it makes one guide."""
    return "".join(secrets.choice(LETTERS) for _ in range(DRAFT))


def plan_id_for(draft: str, title: str, destination: str) -> str:
    """The id of the draft's guide, which stays when its title changes; else a free one."""
    words = readable(title) or readable(destination) or NAMELESS
    ids = [f"{words}-{draft[:length]}" for length in ENDS]
    known = Guide.objects.filter(Q(draft=draft) | Q(pk__in=ids)).values_list("draft", "pk")
    taken = {plan_id: made_by for made_by, plan_id in known}
    made = [plan_id for plan_id, made_by in taken.items() if made_by == draft]
    return next(plan_id for plan_id in [*made, *ids] if taken.get(plan_id, draft) == draft)


def readable(text: str) -> str:
    """A text's words in plain letters; empty if it has too few, as most Japanese titles do."""
    words = slugify(text).replace("_", "-")
    if len(words) > LONGEST:
        words = words[: LONGEST + 1].rpartition("-")[0] or words[:LONGEST]
    words = re.sub("-+", "-", words).strip("-")
    return words if len(re.findall("[a-z]", words)) >= FEWEST_LETTERS else ""
