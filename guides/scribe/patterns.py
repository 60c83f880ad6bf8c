"""Strings that match a regular expression."""

import re
import re._constants as op  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import string
from collections.abc import Iterator
from typing import Any

LETTERS = string.ascii_lowercase + string.digits + string.ascii_uppercase + " -_.,:/@" + "旅絵"
CATEGORIES = {
    op.CATEGORY_DIGIT: "0123456789",
    op.CATEGORY_WORD: string.ascii_lowercase + string.digits,
    op.CATEGORY_SPACE: " ",
}
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
LONGEST = 1_000


def matches(pattern: str) -> Iterator[str]:
    """Strings that this pattern finds, the shortest first; none where it is too clever."""
    try:
        found, tree = re.compile(pattern), parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return
    seen = set[str]()
    for more in range(40):
        made = Maker(more).sequence(tree)
        if made not in seen and len(made) <= LONGEST and found.search(made):
            seen.add(made)
            yield made


class Maker:
    """Writes one string; `more` lengthens what may repeat, and turns the choices."""

    def __init__(self, more: int) -> None:
        self.more = more
        self.groups: dict[int, str] = {}

    def sequence(self, tree: Any) -> str:
        return "".join(self.piece(kind, value) for kind, value in tree)

    def piece(self, kind: Any, value: Any) -> str:
        if kind is op.LITERAL:
            return chr(value)
        if kind is op.ANY:
            return "a"
        if kind is op.NOT_LITERAL:
            return next(each for each in LETTERS if ord(each) != value)
        if kind is op.IN:
            return self.one_of(value)
        if kind in REPEATS:
            return self.repeat(*value)
        if kind is op.SUBPATTERN:
            group, _, _, tree = value
            made = self.sequence(tree)
            self.groups[group] = made
            return made
        if kind is op.BRANCH:
            return self.sequence(value[1][self.more % len(value[1])])
        if kind is op.GROUPREF:
            return self.groups.get(value, "")
        return self.sequence(value) if kind is op.ATOMIC_GROUP else ""  # anchors and assertions

    def repeat(self, least: int, most: int, tree: Any) -> str:
        times = min(max(least, min(self.more, most)), LONGEST)
        return "".join(self.sequence(tree) for _ in range(times))

    def one_of(self, choices: list[Any]) -> str:
        is_not = choices[0][0] is op.NEGATE
        found = "".join(letters_of(*each) for each in choices if each[0] is not op.NEGATE)
        if is_not:
            found = "".join(each for each in LETTERS if each not in found)
        return found[self.more % min(len(found), 10)] if found else ""


def letters_of(kind: Any, value: Any) -> str:
    if kind is op.LITERAL:
        return chr(value)
    if kind is op.RANGE:
        low, high = value
        return "".join(map(chr, range(low, min(high, low + 200) + 1)))
    if value in CATEGORIES:
        return CATEGORIES[value]
    return "-." if value is op.CATEGORY_NOT_WORD else "a"
