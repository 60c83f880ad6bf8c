"""The sheet around the picture: border, title, grain."""

import random
from dataclasses import dataclass

from PIL import Image, ImageChops

from guides.painter import lettering
from guides.painter.canvas import FINE, SIZE, Canvas, Color, lightness, mix
from guides.painter.lettering import Line
from guides.painter.palettes import Palette
from guides.painter.scene import BOTTOM

MARGIN = 36
ROOM = SIZE - 2 * MARGIN - 96
GAP = 0.3  # between lines, in parts of their size
SKY_SHIFT = SIZE - MARGIN - BOTTOM


@dataclass(frozen=True)
class Title:
    """The lettering of one poster, measured."""

    lines: list[Line]
    second: Line | None  # the name in another language
    place: Line | None

    @property
    def height(self) -> float:
        high = (
            sum(line.size * (1 + GAP) for line in self.lines) - (GAP + 0.16) * self.lines[-1].size
        )
        return high + (52 if self.second else 0) + (46 if self.place else 0)


def make_title(name: str, place: str) -> Title | None:
    """Fit the name; a spot without a name shows its place instead."""
    first, second = lettering.two_languages(lettering.clean(name))
    where = lettering.clean(place)
    if not first:
        first, where = where, ""
    if not first:
        return None
    return Title(
        lettering.fit(first, ROOM),
        _small(second, 30, 0.14) if second else None,
        _small(where, 20, 0.3) if where else None,
    )


def _small(text: str, size: float, spacing: float) -> Line:
    text = text.upper()
    return Line(lettering.shorten(text, size, spacing, ROOM - 160), size, spacing)


def choose_layout(title: Title | None, chance: random.Random) -> str:
    """paper: title on the sheet below; block: on a dark field; sky: above the scene."""
    layout = chance.choice(("paper", "block", "sky"))
    if title is None:
        return "bare"
    if layout == "sky" and title.height > 176:
        return "paper"
    return layout


def field_height(title: Title) -> float:
    return max(title.height + 66, 150)


def shift_for(layout: str, title: Title | None) -> float:
    """How far down the scene is moved, so that it ends where the lettering begins."""
    if title is None or layout in ("sky", "bare"):
        return SKY_SHIFT
    return SIZE - MARGIN - field_height(title) - BOTTOM + (0 if layout == "block" else 8)


def title_colors(colors: Palette, layout: str) -> tuple[Color, Color]:
    """The colour of the letters and of their background."""
    if layout == "paper":
        return colors.ink, colors.paper
    field = mix(colors.ink, colors.land, 0.25) if layout == "block" else colors.sky[0]
    return (colors.paper if lightness(field) < 0.57 else colors.ink), field


def finish(
    canvas: Canvas, colors: Palette, layout: str, title: Title | None, seed: int
) -> Image.Image:
    """Put the picture on its sheet, set the title, and print it."""
    canvas.shift = 0
    if title:
        text, field = title_colors(colors, layout)
        top: float = MARGIN + 48
        if layout != "sky":
            edge = SIZE - MARGIN - field_height(title) + (0 if layout == "block" else 8)
            canvas.box(0, edge, SIZE, SIZE, field)
            top = edge + (SIZE - MARGIN - edge - title.height) / 2
        _set(canvas, title, top, text)
    _border(canvas, colors.paper)
    if layout != "paper":
        _keyline(canvas, colors.paper)
    return _grain(canvas.image.reduce(FINE), seed)


def _set(canvas: Canvas, title: Title, top: float, color: Color) -> None:
    middle, y = SIZE / 2, top
    for line in title.lines:
        lettering.write(canvas.pen, line, middle, y + line.size * 0.86, color)
        y += line.size * (1 + GAP)
    y -= (GAP + 0.14) * title.lines[-1].size
    if title.second:
        lettering.write(canvas.pen, title.second, middle, y + 50, color)
        y += 52
    if title.place:
        line = title.place
        half = lettering.width(line.text, line.size, line.spacing) / 2
        lettering.write(canvas.pen, line, middle, y + 44, color)
        for left in (middle - half - 88, middle + half + 24):
            canvas.box(left, y + 36.5, left + 64, y + 38.5, color)


def _border(canvas: Canvas, paper: Color) -> None:
    far = SIZE - MARGIN
    for edge in (
        (0, 0, SIZE, MARGIN),
        (0, far, SIZE, SIZE),
        (0, 0, MARGIN, SIZE),
        (far, 0, SIZE, SIZE),
    ):
        canvas.box(*edge, paper)


def _keyline(canvas: Canvas, paper: Color) -> None:
    near, far = MARGIN + 12, SIZE - MARGIN - 12
    corners = [(near, near), (far, near), (far, far), (near, far), (near, near)]
    canvas.line(corners, paper, 1.5)


def _grain(image: Image.Image, seed: int) -> Image.Image:
    """The texture of paper and slightly uneven ink."""
    chance = random.Random(seed)
    tile = Image.frombytes("L", (256, 256), chance.randbytes(256 * 256))
    fine = Image.new("L", image.size)
    for x in range(0, SIZE, 256):
        for y in range(0, SIZE, 256):
            fine.paste(tile, (x, y))
    blotches = Image.frombytes("L", (12, 12), chance.randbytes(12 * 12))
    coarse = blotches.resize(image.size, Image.Resampling.BICUBIC)
    tooth = Image.blend(fine, coarse, 0.3).point(
        [round(128 + (v - 128) * 0.16) for v in range(256)]
    )
    return ImageChops.soft_light(image, Image.merge("RGB", (tooth, tooth, tooth)))
