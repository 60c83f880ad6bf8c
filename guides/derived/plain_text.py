"""Texts that a model wrote, made fit for a page: plain words, no HTML, no links, no tricks.

Pages escape them all the same. This keeps a visitor from reading "<b>" and "](http://…".
"""

import html
import re
import unicodedata

from guides import validators

MOST_READ = 50_000  # characters that are looked at
HIDDEN = re.compile(
    r"<(script|style|template|iframe)\b.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL
)
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
TAG = re.compile(r"</?[a-zA-Z!?][^<>]*(?:>|\Z)")
MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,2000}(?:\s[^()]{0,200})?\)")
ADDRESS = re.compile(r"\b(?:[a-z][a-z0-9+.-]{1,20}://|www\.|mailto:|javascript:)\S+", re.IGNORECASE)
MARKS = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]+|[-*][ \t]+|```\w*)", re.MULTILINE)
# At most 300 characters: each mark without its end would be looked for to the end of the line.
EMPHASIS = re.compile(r"(\*\*|__|`)(?=\S)(.{1,300}?)(?<=\S)\1")
HUGE_NUMBER = re.compile(r"&#[xX]?[0-9a-fA-F]{9,};?")  # Python refuses to read one of 5,000 digits
SPACES = re.compile(r"[^\S\n]+")
BLANK_LINES = re.compile(r"\s*\n\s*\n\s*")
LINE_BREAKS = re.compile(r"(?:\r\n?|\u2028|\u2029)")
ROUNDS = 4  # of markup that appears when other markup is removed


def plain(text: object, most: int, *, lines: bool = False) -> str:
    """The words of a text, at most this many characters; empty if nothing of it can be seen.

    `lines` keeps paragraphs, else it becomes one line.
    """
    if not isinstance(text, str):
        return ""
    words = without_markup(text[:MOST_READ])
    words = unicodedata.normalize("NFC", words)
    words = SPACES.sub(" ", words)
    if lines:
        words = BLANK_LINES.sub("\n\n", words)
        words = "\n".join(line.strip() for line in words.split("\n"))
    else:
        words = " ".join(words.split())
    words = shortened(words.strip(), most)
    return words if validators.is_visible(words) else ""


def without_markup(text: str) -> str:
    """The words of HTML and Markdown, without addresses.

    Removing one mark can make another of what is around it, so it is done until nothing changes.
    """
    for _ in range(ROUNDS):
        before = text
        text = LINE_BREAKS.sub("\n", html.unescape(HUGE_NUMBER.sub(" ", text)))
        text = "".join(each for each in text if is_shown(each))
        for pattern in (HIDDEN, COMMENT, TAG):
            text = pattern.sub(" ", text)
        text = EMPHASIS.sub(r"\2", MARKS.sub("", text))
        text = ADDRESS.sub("", MARKDOWN_LINK.sub(r"\1", text))
        if text == before:
            break
    return TAG.sub(" ", text)


def is_shown(character: str) -> bool:
    if character == "\n":
        return True
    if character in validators.TURNS or character in validators.BLANKS:
        return False
    return unicodedata.category(character) not in ("Cc", "Cs", "Co", "Cn", "Zl", "Zp")


def shortened(text: str, most: int) -> str:
    """Cut a text that is too long, between two words if there are spaces."""
    if len(text) <= most:
        return text
    start = text[: most - 1]
    head, _space, _rest = start.rpartition(" ")
    return f"{head if len(head) > most // 2 else start}…"
