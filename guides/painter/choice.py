"""What to paint: the words of a spot choose motif, hour and season."""

import random
import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from guides.painter.palettes import PALETTES, Palette
from guides.painter.vocabulary import (
    ANTIQUE,
    ANYWHERE,
    ANYWHERE_IN_JAPAN,
    BY_NAME,
    EAST_ASIA,
    ELSEWHERE,
    IN_JAPAN,
    MOTIFS,
    OWN_LETTERS,
    SEASONS,
    Motif,
)


def joined(*parts: str | Sequence[str]) -> str:
    """All words of a spot in small letters."""
    flat = [part if isinstance(part, str) else " ".join(part) for part in parts]
    return unicodedata.normalize("NFKC", " ".join(flat)[:4000]).lower()


def is_japan(name: str, description: str, place: str) -> bool:
    """Where the spot is, by its place, else by its own words."""
    where = joined(place) or joined(name, description)
    own = OWN_LETTERS.search(where) and not ELSEWHERE.search(where)
    return bool(own or IN_JAPAN.search(where))


def _mentions(text: str, word: str) -> re.Match[str] | None:
    """Where the text has this word: rather at its end than elsewhere."""
    last, anywhere = _patterns(word)
    return last.search(text) or anywhere.search(text)


@cache  # `re` itself keeps fewer patterns than there are words
def _patterns(word: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Latin words count whole, with or without a plural s; Japanese ones anywhere."""
    if ord(word[0]) >= 0x250:
        return re.compile(rf"{word}(?![ぁ-鿿])"), re.compile(word)
    before = r"\w" if word.startswith("-") else r"(?<!\w)"
    pattern = rf"{before}{word.replace('_', ' ')}s?\b"
    return re.compile(rf"{pattern}$"), re.compile(pattern)


def choose(
    name: str, description: str, tags: Sequence[str], place: str, chance: random.Random
) -> Motif:
    """Choose by the name, else the tags, else the description, else by chance."""
    in_japan = is_japan(name, description, place)
    for text in (joined(name), joined(tags), joined(description)):
        found = _match(text)
        if found:
            return _suited(found, joined(name, place), in_japan)
    return BY_NAME[chance.choice(ANYWHERE_IN_JAPAN if in_japan else ANYWHERE)]


def _match(text: str) -> Motif | None:
    """The motif that the text names most clearly; of equals, the first."""
    best, clearest = None, 0
    for motif in MOTIFS:
        for word in motif.words:
            found = _mentions(text, word)
            if found and (clear := _clarity(text, word, found)) > clearest:
                best, clearest = motif, clear
    return best


def _clarity(text: str, word: str, found: re.Match[str]) -> int:
    """Longer words count more, and so does the last word: Tower Bridge is a bridge."""
    japanese = ord(word[0]) >= 0x250
    last = not OWN_LETTERS.match(text[found.end() :]) if japanese else found.end() == len(text)
    return len(word) * (3 if japanese else 1) + (4 if last else 0)


def _suited(motif: Motif, text: str, in_japan: bool) -> Motif:
    """The same word means another shape in another region."""
    if motif.name == "castle" and not in_japan and not EAST_ASIA.search(text):
        return BY_NAME["fortress"]
    if motif.name == "temple" and ANTIQUE.search(text):
        return BY_NAME["desert"]
    return motif


def choose_palette(
    motif: Motif, name: str, description: str, tags: Sequence[str], style: str,
    chance: random.Random,
) -> Palette:  # fmt: skip
    """A style or a word about hour or season decides; else one that suits the motif."""
    chosen = chance.choice(motif.palettes)
    if style in PALETTES:
        return PALETTES[style]
    text = joined(name, description, tags)
    for palette, words in SEASONS:
        if any(_mentions(text, word) for word in words.split()):
            return PALETTES[palette]
    return PALETTES[chosen]


def place_orb(motif: Motif, chance: random.Random) -> tuple[tuple[float, float], float]:
    """Where sun or moon stands, and how large."""
    side = chance.choice((-1, 1))
    radius = chance.uniform(44, 66)
    if motif.orb == "middle":
        return (512 + side * chance.uniform(0, 90), chance.uniform(300, 400)), radius * 1.5
    if motif.orb == "high":
        return (512 + side * chance.uniform(190, 330), chance.uniform(150, 200)), radius * 0.85
    return (512 + side * chance.uniform(260, 350), chance.uniform(170, 260)), radius
