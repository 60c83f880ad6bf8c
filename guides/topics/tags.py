"""A tag, the topic it names, and that topic's address."""

import string
from functools import lru_cache
from typing import Any

from django.core.exceptions import ValidationError
from django.urls import reverse

from guides import validators

# ASCII only: Python, PostgreSQL and SQLite agree on these letters, and on no others.
LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def topic_of(tag: str) -> str:
    """The topic that a tag names: "Temple" and "temple" name the same."""
    return tag.translate(LOWER)


def is_usable(tag: Any) -> bool:
    """Whether a tag can name a topic; other programs may have stored anything."""
    return isinstance(tag, str) and 0 < len(tag) <= validators.LONGEST_TAG and is_tidy(tag)


@lru_cache(maxsize=4_096)  # home asks for the tags of 1,000 spots
def is_tidy(tag: str) -> bool:
    try:
        return validators.tidy_tags([tag]) == [tag] and validators.is_visible(tag)
    except ValidationError:
        return False


def topics_in(tags: Any) -> dict[str, str]:
    """The topics of a list of tags, each with the tag that names it."""
    if not isinstance(tags, list):
        return {}
    return {topic_of(tag): tag for tag in tags if is_usable(tag)}


def address(tag: Any) -> str:
    """The address of the tag's topic; empty if it can't have one."""
    return reverse("topic", args=[topic_of(tag)]) if is_usable(tag) else ""


class InPath:
    """A tag as one segment of a path.

    "~" begins an escape of our own. Servers decode %2F before anything can tell it from a slash,
    proxies join "//", and browsers drop the segments "." and "..", however they are written.
    """

    regex = r"[\s\S]{1,400}?"  # also a line break: a pattern that stops there could not refuse it

    def to_url(self, tag: str) -> str:
        escaped = tag.replace("~", "~7E").replace("/", "~2F")
        return escaped.replace(".", "~2E") if escaped in (".", "..") else escaped

    def to_python(self, segment: str) -> str:
        return segment.replace("~2F", "/").replace("~2E", ".").replace("~7E", "~")
