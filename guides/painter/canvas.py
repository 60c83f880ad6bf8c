"""A canvas twice the poster's size: shrinking it makes edges smooth."""

import math
from collections.abc import Iterable, Sequence

from PIL import Image, ImageDraw, ImageFilter

Color = tuple[int, int, int]
Point = tuple[float, float]

SIZE = 1024
FINE = 2

# Opaque in the middle, transparent at the rim, with a soft falloff.
# Pillow's gradient reaches 255 in the corners, 180 where the circle touches the edge.
_GLOW = Image.radial_gradient("L").point(
    [round(255 * max(0.0, 1 - v / 180) ** 1.8) for v in range(256)]
)
_RAMP = Image.linear_gradient("L")


def rgb(text: str) -> Color:
    """'f2e8d5' as a colour."""
    return int(text[0:2], 16), int(text[2:4], 16), int(text[4:6], 16)


def mix(a: Color, b: Color, share: float) -> Color:
    """`share` 0 is a, 1 is b."""
    return (
        round(a[0] + (b[0] - a[0]) * share),
        round(a[1] + (b[1] - a[1]) * share),
        round(a[2] + (b[2] - a[2]) * share),
    )


def lightness(color: Color) -> float:
    """How bright the eye finds a colour, 0 to 1."""
    return (0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2]) / 255


def along(colors: Sequence[Color], share: float) -> Color:
    """The colour at `share` of the way through evenly spaced colours."""
    place = min(max(share, 0.0), 1.0) * (len(colors) - 1)
    index = min(int(place), len(colors) - 2)
    return mix(colors[index], colors[index + 1], place - index)


def bend(start: Point, pull: Point, end: Point, steps: int = 14) -> list[Point]:
    """A curve from start to end, drawn towards pull."""
    points = []
    for step in range(steps + 1):
        t = step / steps
        a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t * t
        points.append(
            (a * start[0] + b * pull[0] + c * end[0], a * start[1] + b * pull[1] + c * end[1])
        )
    return points


def arc(
    cx: float, cy: float, rx: float, ry: float, start: float = 180, end: float = 360
) -> list[Point]:
    """Points on an ellipse; the default is its upper half, from left to right."""
    steps = 24
    return [
        (
            cx + rx * math.cos(math.radians(start + (end - start) * i / steps)),
            cy + ry * math.sin(math.radians(start + (end - start) * i / steps)),
        )
        for i in range(steps + 1)
    ]


class Canvas:
    """Draws in the poster's own pixels; `shift` moves what is drawn down."""

    def __init__(self, shift: float = 0) -> None:
        self.image = Image.new("RGB", (SIZE * FINE, SIZE * FINE))
        self.pen = ImageDraw.Draw(self.image)
        self.shift = shift

    def _at(self, points: Iterable[Point]) -> list[Point]:
        return [(x * FINE, (y + self.shift) * FINE) for x, y in points]

    def shape(self, points: Iterable[Point], color: Color) -> None:
        self.pen.polygon(self._at(points), fill=color)

    def box(self, left: float, top: float, right: float, bottom: float, color: Color) -> None:
        if right > left and bottom > top:
            (x0, y0), (x1, y1) = self._at([(left, top), (right, bottom)])
            self.pen.rectangle((x0, y0, x1 - 1, y1 - 1), fill=color)

    def disc(self, cx: float, cy: float, rx: float, color: Color, ry: float | None = None) -> None:
        high = rx if ry is None else ry
        (x0, y0), (x1, y1) = self._at([(cx - rx, cy - high), (cx + rx, cy + high)])
        self.pen.ellipse((x0, y0, x1, y1), fill=color)

    def line(self, points: Iterable[Point], color: Color, width: float = 2) -> None:
        thick = max(1, round(width * FINE))
        self.pen.line(self._at(points), fill=color, width=thick, joint="curve")

    def pill(self, cx: float, cy: float, long: float, high: float, color: Color) -> None:
        (x0, y0), (x1, y1) = self._at(
            [(cx - long / 2, cy - high / 2), (cx + long / 2, cy + high / 2)]
        )
        self.pen.rounded_rectangle((x0, y0, x1, y1), radius=high * FINE / 2, fill=color)

    def shaded(self, points: Sequence[Point], top: Color, bottom: Color) -> None:
        """A shape whose colour changes from its top to its bottom."""
        placed = self._at(points)
        left, right = (f(x for x, _ in placed) for f in (min, max))
        high, low = (f(y for _, y in placed) for f in (min, max))
        x0, y0 = max(int(left), 0), max(int(high), 0)
        x1, y1 = min(int(right) + 1, self.image.width), min(int(low) + 1, self.image.height)
        if x1 <= x0 or y1 <= y0:
            return
        mask = Image.new("1", (x1 - x0, y1 - y0))
        ImageDraw.Draw(mask).polygon([(x - x0, y - y0) for x, y in placed], fill=1)
        reach = max(low - high, 1)
        ends = [mix(top, bottom, min(max((y - high) / reach, 0), 1)) for y in (y0, y1)]
        self.image.paste(gradient(ends, mask.size), (x0, y0), mask)

    def glow(self, cx: float, cy: float, radius: float, color: Color, strength: float) -> None:
        """Light that fades out evenly around a point."""
        side = round(radius * 2 * FINE)
        mask = _GLOW.point([round(v * strength) for v in range(256)]).resize((side, side))
        x, y = round((cx - radius) * FINE), round((cy - radius + self.shift) * FINE)
        self.image.paste(color, (x, y, x + side, y + side), mask)

    def veil(self, top: float, bottom: float, color: Color, above: float, below: float) -> None:
        """Mist over the whole width, from strength `above` to strength `below`."""
        y0, y1 = (round((y + self.shift) * FINE) for y in (top, bottom))
        ramp = _RAMP.point([round(255 * (above + (below - above) * v / 255)) for v in range(256)])
        mask = ramp.resize((self.image.width, max(y1 - y0, 1)))
        self.image.paste(color, (0, y0, self.image.width, y0 + mask.height), mask)

    def soft(
        self, shapes: Iterable[Sequence[Point]], color: Color, strength: float, blur: float
    ) -> None:
        """Shapes without edges, such as steam and rays."""
        coarse = 4
        mask = Image.new("L", (SIZE // coarse, SIZE // coarse))
        pen = ImageDraw.Draw(mask)
        for points in shapes:
            placed = [(x / coarse, (y + self.shift) / coarse) for x, y in points]
            pen.polygon(placed, fill=round(255 * strength))
        mask = mask.filter(ImageFilter.GaussianBlur(blur / coarse))
        self.image.paste(color, (0, 0), mask.resize(self.image.size, Image.Resampling.BICUBIC))


def gradient(colors: Sequence[Color], size: tuple[int, int]) -> Image.Image:
    """Evenly spaced colours from top to bottom."""
    height = 64
    column = Image.new("RGB", (1, height))
    column.putdata([along(colors, y / (height - 1)) for y in range(height)])
    return column.resize((1, size[1]), Image.Resampling.BICUBIC).resize(
        size, Image.Resampling.NEAREST
    )
