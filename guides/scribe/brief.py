"""What a request says: in which language to write, and about what."""

import json
import re
import zlib
from dataclasses import dataclass, field
from typing import Any

MOST_READ = 50_000  # characters of a request
JAPANESE = re.compile(r"[ぁ-ヿ一-鿿]")
LETTERS = re.compile(r"\w")
HINT = re.compile(
    r"(?:\b(?:language|lang|locale)\b|言語)\W{1,5}(ja|japanese|日本語|en|english|英語)",
    re.IGNORECASE,
)
IN_JAPANESE = re.compile(r"\b(?:in|into) japanese\b|日本語(?:で|に)", re.IGNORECASE)
IN_ENGLISH = re.compile(r"\b(?:in|into) english\b|英語(?:で|に)", re.IGNORECASE)
# "Destination: Kyoto, Japan", also as JSON: "destination": "Kyoto, Japan".
FACT = re.compile(
    r'^[ \t{,*-]*"?([A-Za-z_ ]{2,30}|[ぁ-ヿ一-鿿]{2,10})"?\s*[:：=]\s*"?([^"\n]+)', re.MULTILINE
)
QUOTED = re.compile(r'"([^"\n]{2,200})"|“([^”\n]{2,200})”|「([^」\n]{2,200})」')
ABOUT = re.compile(r"\b(?:about|to|of|for|in|at|through) ((?:[A-Z][\w’'-]*[ ,]*)+)")
ABOUT_JAPANESE = re.compile(r"([ァ-ヿ一-鿿ー]{2,12})(?:の|について|を)")
NAMES = {
    "destination": ("destination", "place", "city", "行き先", "目的地", "旅先", "場所", "都市"),
    "spot_name": ("spot", "spot_name", "spot name", "name", "スポット", "名所"),
    "title": ("title", "guide", "題", "題名", "タイトル", "ガイド"),
    "topic": ("topic", "theme", "tag", "subject", "テーマ", "話題", "トピック"),
    "angle": ("angle", "what the text should tell"),
    "source": ("text", "original", "source", "原文", "本文"),
    "week": ("week", "週"),
    "new": ("new guides this week",),
    "new_before": ("new guides the week before",),
}  # fmt: skip
FACTS = {word: name for name, words in NAMES.items() for word in words}


@dataclass(frozen=True)
class Brief:
    """A request in the scribe's eyes."""

    language: str = "en"  # or ja
    subject: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    text: str = ""
    guides: tuple[str, ...] = ()  # all that it names

    @property
    def seed(self) -> int:
        return zlib.crc32(self.text.encode(errors="replace"))


def told(request: dict[str, Any]) -> str:
    """Every word that the request says, in its order."""
    said = [request.get("system"), request.get("prompt")]
    said += [each.get("content") for each in request.get("messages") or []]
    return "\n".join(each for each in said if isinstance(each, str))


def read(request: dict[str, Any]) -> Brief:
    text = told(request)[:MOST_READ]
    facts: dict[str, str] = {}
    guides = []
    for found in FACT.finditer(text):
        name = FACTS.get(found[1].strip().lower())
        value = name and value_of(found, text)
        if name and value:
            facts.setdefault(name, value)
            guides += [value] if name == "title" else []
    language = find_language(text, request.get("schema"))
    return Brief(language, find_subject(text, facts), facts, text, tuple(guides))


def value_of(fact: re.Match[str], text: str) -> str:
    """The value of a fact; a quoted one to the end of its quotation, whatever is in it."""
    start = fact.start(2) - 1
    if text[start] == '"':
        try:
            value, _end = json.JSONDecoder().raw_decode(text, start)
            return str(value).strip()
        except ValueError:
            pass  # a quotation mark of the prompt's own
    return fact[2].strip(" ,}")


def find_language(text: str, schema: Any) -> str:
    """The language that the schema or the prompt asks for, else the prompt's own."""
    wanted = asked_by(schema)
    if wanted in ("en", "ja"):
        return wanted
    if hint := HINT.search(text):
        return "ja" if hint[1].lower() in ("ja", "japanese", "日本語") else "en"
    for language, pattern in (("ja", IN_JAPANESE), ("en", IN_ENGLISH)):
        if pattern.search(text):
            return language
    # The name of a Japanese place alone does not make an English prompt Japanese.
    return "ja" if len(JAPANESE.findall(text)) * 3 > len(LETTERS.findall(text)) else "en"


def asked_by(schema: Any) -> str:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    named = properties.get("language") if isinstance(properties, dict) else None
    if not isinstance(named, dict):
        return ""
    choices = named.get("enum") or [named.get("const", "")]
    return str(choices[0]) if len(choices) == 1 else ""


def find_subject(text: str, facts: dict[str, str]) -> str:
    """The few words that the answer is about."""
    for name in ("spot_name", "destination", "topic", "title"):
        if name in facts:
            return facts[name][:60]
    if quoted := QUOTED.search(text):
        return str(next(filter(None, quoted.groups())))[:60]
    found = ABOUT.findall(text) or ABOUT_JAPANESE.findall(text)
    return str(found[0]).strip(" ,")[:60] if found else ""
