"""What differs between two versions of a text, piece by piece, in any language.

Words are compared in languages with spaces, single letters in those without, such as Japanese.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import Any

MOST_PARTS = 100  # of one content: titles, descriptions, events of a week
MOST_PIECES = 1_500  # comparing takes the square of their number at worst
WORDS = re.compile(r"[^\W_぀-ヿ㐀-鿿가-힯฀-๿]+|\s+|.", re.DOTALL)
SENTENCES = re.compile(r"[^.!?。．！？\n]*(?:[.!?。．！？\n]\s*|\Z)")
SAME, ADDED, REMOVED = "same", "added", "removed"


@dataclass(frozen=True)
class Piece:
    kind: str
    text: str


@dataclass(frozen=True)
class Part:
    """One value of a content: where it stands in it, and its pieces."""

    name: str
    pieces: list[Piece]

    @property
    def is_same(self) -> bool:
        return all(piece.kind == SAME for piece in self.pieces)


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Part]:
    """The values of both contents; what only one has is added or removed as a whole."""
    old, new = contents(before), contents(after)
    names = dict.fromkeys([*new, *old])
    return [Part(name, pieces(old.get(name, ""), new.get(name, ""))) for name in names]


def contents(payload: Mapping[str, Any]) -> dict[str, str]:
    """The values of a content as texts, each with its path."""
    return dict(islice(_values("", payload), MOST_PARTS))


def _values(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _values(f"{path}.{key}" if path else str(key), inner)
    elif isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        for number, inner in enumerate(value, 1):
            yield from _values(f"{path} {number}", inner)
    elif isinstance(value, list):
        yield path, "\n".join(map(str, value))
    else:
        yield path, "" if value is None else str(value)


def pieces(before: str, after: str) -> list[Piece]:
    """Both texts in one, as pieces that stay, come or go."""
    if before == after:
        return [Piece(SAME, after)] if after else []
    old, new = _split(before, after)
    if max(len(old), len(new)) > MOST_PIECES:
        return [Piece(kind, text) for kind, text in ((REMOVED, before), (ADDED, after)) if text]
    found = []
    for tag, start, end, from_, to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            found.append(Piece(SAME, "".join(new[from_:to])))
            continue
        gone, came = "".join(old[start:end]), "".join(new[from_:to])
        found += [Piece(kind, text) for kind, text in ((REMOVED, gone), (ADDED, came)) if text]
    return found


def _split(before: str, after: str) -> tuple[list[str], list[str]]:
    """Words and letters; sentences of texts that have too many."""
    old, new = WORDS.findall(before), WORDS.findall(after)
    if max(len(old), len(new)) <= MOST_PIECES:
        return old, new
    return SENTENCES.findall(before), SENTENCES.findall(after)
