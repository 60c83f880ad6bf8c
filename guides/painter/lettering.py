"""The name on the poster: which letters, how large, on how many lines."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib import resources

from PIL import ImageDraw, ImageFont

from guides.painter.canvas import FINE, Color

LATIN = "LeagueSpartan-SemiBold.otf"
JAPANESE = "NotoSansJP-Bold-subset.otf"
# Capitals stand almost as high as kanji beside them.
LATIN_SCALE = 1.16

LONGEST = 160  # letters; more would be too small to read
WIDE = ("W", "F")
# These never begin a line.
CLINGING = set(
    "、。，．・：；？！）］｝」』】〉》ーゝ々ぁぃぅぇぉっゃゅょァィゥェォッャュョ,.;:!?)]}’”…"
)


@dataclass(frozen=True)
class Line:
    text: str
    size: float
    spacing: float  # between letters, in parts of the size


@cache
def font(name: str, pixels: int) -> ImageFont.FreeTypeFont:
    with resources.as_file(resources.files("guides.painter") / "fonts" / name) as path:
        # Basic layout: letters are placed one by one, the same on every machine.
        return ImageFont.truetype(path, pixels, layout_engine=ImageFont.Layout.BASIC)


@cache
def _has(name: str, letter: str) -> bool:
    """Whether the font has this letter; unknown letters are drawn as a box."""
    mask, unknown = (font(name, 32).getmask(text) for text in (letter, "\U0010ffff"))
    return mask.getbbox() is not None and bytes(mask) != bytes(unknown)


def _font_for(letter: str) -> str:
    return LATIN if _has(LATIN, letter) else JAPANESE


def clean(text: str) -> str:
    """Keep only letters that the fonts can draw, on one line."""
    text = unicodedata.normalize("NFC", text[: LONGEST * 4])
    kept = (
        " " if letter.isspace() else letter
        for letter in text
        if letter.isspace() or _has(LATIN, letter) or _has(JAPANESE, letter)
    )
    text = " ".join("".join(kept).split())
    # If all letters of a name are unknown, only punctuation is left.
    return text[:LONGEST] if any(letter.isalnum() for letter in text) else ""


def is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in WIDE


def two_languages(name: str) -> tuple[str, str]:
    """'金閣寺 Kinkaku-ji' as ('金閣寺', 'Kinkaku-ji'); most names have no second part."""
    name = name.strip()
    flags = [is_wide(letter) for letter in name]
    if not any(flags) or all(flags):
        return name, ""
    turn = next(i for i, flag in enumerate(flags) if flag != flags[0])
    first, second = name[:turn], name[turn:]
    if any(is_wide(letter) == flags[0] for letter in second if letter.isalpha()):
        return name, ""  # scripts alternate more than once: it is one name
    joint = " ()（）/|・,、-–—"
    if first[-1] not in joint and second[0] not in joint:
        return name, ""  # JR大阪駅
    first, second = first.strip(joint), second.strip(joint)
    if not any(letter.isalpha() for letter in first) or len(re.findall(r"[^\W\d]", second)) < 2:
        return name, ""
    return first, second


@cache
def _advance(name: str, letter: str) -> float:
    return font(name, 200).getlength(letter) / 200


def width(text: str, size: float, spacing: float) -> float:
    total = 0.0
    for letter in text:
        name = _font_for(letter)
        total += _advance(name, letter) * (LATIN_SCALE if name == LATIN else 1) + spacing
    return (total - spacing) * size if text else 0


def _pieces(text: str) -> list[str]:
    """The parts of a text that a line break must not split."""
    pieces: list[str] = []
    for letter in text:
        glued = pieces and not (
            pieces[-1].endswith((" ", "-"))
            or (is_wide(letter) and letter not in CLINGING)
            or (is_wide(pieces[-1][-1]) and letter not in CLINGING)
        )
        if glued or (pieces and letter == " "):
            pieces[-1] += letter
        else:
            pieces.append(letter)
    return pieces


def _wrap(text: str, size: float, spacing: float, room: float) -> list[str]:
    lines = [""]
    for piece in _pieces(text):
        if lines[-1] and width((lines[-1] + piece).rstrip(), size, spacing) > room:
            lines.append("")
        lines[-1] += piece
    return [line.strip() for line in lines]


def _balanced(text: str, size: float, spacing: float, room: float) -> list[str]:
    """The fewest lines that fit, of about the same length."""
    lines = _wrap(text, size, spacing, room)
    while len(lines) > 1:
        narrower = _wrap(text, size, spacing, room := room * 0.95)
        if len(narrower) > len(lines) or _widest(narrower, size, spacing) > room:
            break
        lines = narrower
    return lines


def _widest(lines: list[str], size: float, spacing: float) -> float:
    return max(width(line, size, spacing) for line in lines)


def fit(text: str, room: float) -> list[Line]:
    """Set the name as large as possible: on one line, else two, else three small ones."""
    text = text if any(is_wide(letter) for letter in text) else text.upper()
    spacing = 0.22 if len(text) <= 5 else 0.1
    for most, largest, smallest in ((1, 96, 62), (2, 72, 50), (3, 50, 34)):
        for size in range(largest, smallest - 1, -2):
            lines = _balanced(text, size, spacing, room)
            if len(lines) <= most and _widest(lines, size, spacing) <= room:
                return [Line(line, size, spacing) for line in lines]
    return [Line(line, 34, 0.06) for line in _cut(text, 34, 0.06, room)]


def _cut(text: str, size: float, spacing: float, room: float) -> list[str]:
    lines = []
    for _ in range(3):
        end = len(text)
        while width(text[:end], size, spacing) > room:
            end -= 1
        space = text.rfind(" ", 0, end)
        if end < len(text) and space > end / 2:
            end = space
        lines.append(text[:end].strip())
        text = text[end:].strip()
        if not text:
            return lines
    last = lines[-1]
    while width(last + "…", size, spacing) > room:
        last = last[:-1]
    lines[-1] = last.rstrip() + "…"
    return lines


def shorten(text: str, size: float, spacing: float, room: float) -> str:
    """One line of small letters, cut with an ellipsis if it is too long."""
    if width(text, size, spacing) <= room:
        return text
    while text and width(text + "…", size, spacing) > room:
        text = text[:-1]
    return text.rstrip() + "…"


def write(pen: ImageDraw.ImageDraw, line: Line, middle: float, base: float, color: Color) -> None:
    """Set one line, centred, on its baseline; in the poster's own pixels."""
    x = middle - width(line.text, line.size, line.spacing) / 2
    for letter in line.text:
        name = _font_for(letter)
        scale = LATIN_SCALE if name == LATIN else 1
        face = font(name, round(line.size * scale * FINE))
        drop = line.size * 0.075 if name == JAPANESE and is_wide(letter) else 0
        pen.text((x * FINE, (base - drop) * FINE), letter, font=face, fill=color, anchor="ls")
        x += (_advance(name, letter) * scale + line.spacing) * line.size
