"""Strings of a format, of a length, or like a pattern."""

import re
from collections.abc import Iterator

from guides.scribe import patterns
from guides.scribe.schemas import Flat, Impossible, listed

LONG, LONGEST = 1_000, 100_000
FORMATS = {
    "date": "2026-11-18",
    "date-time": "2026-11-18T09:30:00Z",
    "time": "09:30:00Z",
    "duration": "PT45M",
    "email": "traveller@example.org",
    "idn-email": "traveller@example.org",
    "hostname": "example.org",
    "idn-hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.org/guide",
    "uri-reference": "/guide",
    "iri": "https://example.org/guide",
    "iri-reference": "/guide",
    "uri-template": "/guide/{plan_id}",
    "uuid": "01936b3e-7c1a-7000-8000-000000000000",
    "json-pointer": "/guide",
    "relative-json-pointer": "0",
    "regex": "^guide$",
}


def candidates(flat: Flat, text: str) -> Iterator[str]:
    """Strings that may fit: of the format, else the text in its length, else like the pattern."""
    least, most = int(flat.get("minLength", 0)), flat.get("maxLength")
    if least > LONGEST:
        raise Impossible(f"More than {LONGEST} characters are too many.")
    if flat.get("format") in FORMATS:
        yield FORMATS[flat["format"]]
    yield fitted(text, least, most)
    for pattern in listed(flat.get("pattern", [])):
        yield from patterns.matches(pattern)
    for n in range(2, 200):  # others, where the first is taken
        yield numbered(text, n, least, most)
    yield fitted(text, max(least, LONG), most)  # where a "not" forbids what is short
    yield "." * least


def fitted(text: str, least: int, most: int | None) -> str:
    """The text, repeated until it is long enough, and cut between words if it is too long."""
    joint = " "
    while len(text) < least:
        text = f"{text}{joint}{text}" if text else "."
    if most is None or len(text) <= most:
        return text
    cut = text[: int(most)]
    whole = cut.rpartition(joint)[0].rstrip(" ,;:")
    return whole if len(whole) >= max(least, 1) else cut


def numbered(text: str, n: int, least: int, most: int | None) -> str:
    number = f" {n}"
    room = None if most is None else max(int(most) - len(number), 0)
    made = fitted(text, max(least - len(number), 0), room) + number
    return made if most is None else made[len(made) - min(len(made), int(most)) :]


def finds(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False
