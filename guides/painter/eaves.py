"""Parts of Japanese places: roofs, storeys, gates, lanterns, bridges."""

from guides.painter.canvas import Color, Point, bend, mix
from guides.painter.scene import Scene


def roof(
    scene: Scene, cx: float, eave: float, half: float, high: float, top: float, color: Color,
    lift: float = 0,
) -> None:  # fmt: skip
    """A roof swung up at its corners; its ridge is 2 * top long."""
    lift = lift or half * 0.08
    left = bend(
        (cx - half, eave - lift),
        (cx - top - (half - top) * 0.42, eave - high * 0.2),
        (cx - top, eave - high),
    )
    right = [(2 * cx - x, y) for x, y in left]
    under = bend((cx + half, eave - lift), (cx, eave + lift * 0.7), (cx - half, eave - lift))
    canvas = scene.canvas
    canvas.shape([*left, *reversed(right), *under], color)
    lit = mix(color, scene.colors.cloud, 0.14)
    canvas.shape([*left, (cx - top * 0.2, eave - high), (cx - half * 0.25, eave - lift * 0.1)], lit)
    dark = mix(color, scene.colors.ink, 0.4)
    canvas.line(under, dark, max(high * 0.07, 1.5))
    if top > 2:
        canvas.line(
            [(cx - top - 3, eave - high), (cx + top + 3, eave - high)], dark, max(high * 0.09, 2)
        )


def storey(
    scene: Scene, cx: float, base: float, half: float, high: float, wall: Color, bays: int = 3
) -> None:
    """A wall with posts and dark openings, in shadow under its roof."""
    colors, canvas = scene.colors, scene.canvas
    canvas.box(cx - half, base - high, cx + half, base, wall)
    post = mix(wall, colors.ink, 0.5)
    inside = colors.lamp if colors.moon or colors.name == "dusk" else mix(wall, colors.ink, 0.62)
    step = 2 * half / bays
    for bay in range(bays):
        left = cx - half + bay * step
        if bay % 2 == (bays // 2) % 2:
            canvas.box(
                left + step * 0.18,
                base - high * 0.66,
                left + step * 0.82,
                base - high * 0.08,
                inside,
            )
        canvas.box(left - step * 0.03, base - high, left + step * 0.05, base, post)
    canvas.box(
        cx + half * 0.45, base - high, cx + half, base - high * 0.0, mix(wall, colors.ink, 0.3)
    )
    for bay in range(bays):  # openings stay readable on the side in shadow
        left = cx - half + bay * step
        if left > cx + half * 0.3 and bay % 2 == (bays // 2) % 2:
            canvas.box(
                left + step * 0.18,
                base - high * 0.66,
                left + step * 0.82,
                base - high * 0.08,
                inside,
            )
    canvas.box(cx - half, base - high, cx + half, base - high * 0.8, mix(wall, colors.ink, 0.45))


def torii(scene: Scene, cx: float, base: float, high: float, color: Color) -> None:
    canvas, ink = scene.canvas, scene.colors.ink
    half, thick = high * 0.4, high * 0.075
    dark = mix(color, ink, 0.35)
    for side in (-1, 1):
        foot, head = cx + side * half * 1.06, cx + side * half * 0.94
        canvas.shape(
            [
                (foot - thick / 2, base),
                (head - thick / 2, base - high * 0.86),
                (head + thick / 2, base - high * 0.86),
                (foot + thick / 2, base),
            ],
            color,
        )
        canvas.shape(
            [
                (foot + thick * 0.12, base),
                (head + thick * 0.12, base - high * 0.86),
                (head + thick / 2, base - high * 0.86),
                (foot + thick / 2, base),
            ],
            dark,
        )
        canvas.box(
            foot - thick * 0.62, base - high * 0.07, foot + thick * 0.62, base, mix(ink, color, 0.1)
        )
    canvas.box(cx - half * 1.22, base - high * 0.7, cx + half * 1.22, base - high * 0.625, color)
    canvas.box(cx - half * 1.22, base - high * 0.64, cx + half * 1.22, base - high * 0.625, dark)
    canvas.box(cx - thick * 0.55, base - high * 0.85, cx + thick * 0.55, base - high * 0.7, dark)
    _beam(scene, cx, base - high * 0.85, half * 1.36, high * 0.06, high * 0.05, color)
    _beam(
        scene, cx, base - high * 0.9, half * 1.5, high * 0.065, high * 0.07, mix(ink, color, 0.12)
    )


def _beam(
    scene: Scene, cx: float, y: float, half: float, thick: float, lift: float, color: Color
) -> None:
    low = bend((cx - half, y - lift), (cx, y + lift), (cx + half, y - lift))
    high: list[Point] = [(x + (3 if x > cx else -3), top - thick) for x, top in reversed(low)]
    scene.canvas.shape([*low, *high], color)


def arched_bridge(scene: Scene, cx: float, base: float, half: float, high: float) -> None:
    canvas, red = scene.canvas, scene.colors.accent
    deck = bend((cx - half, base), (cx, base - high * 2), (cx + half, base))
    canvas.line(deck, red, 12)
    canvas.line([(x, y - 34) for x, y in deck], red, 6)
    for i in range(1, len(deck) - 1):
        x, y = deck[i]
        canvas.line([(x, y), (x, y - 38)], red, 4)
        if i % 4 == 3:
            canvas.line([(x, y), (x, base + 6)], mix(red, scene.colors.ink, 0.3), 7)
    canvas.line([(x, y + 5) for x, y in deck], mix(red, scene.colors.ink, 0.4), 4)


def stone_lantern(scene: Scene, x: float, base: float, high: float, legs: bool = False) -> None:
    canvas, colors = scene.canvas, scene.colors
    stone, dark = mix(colors.shade, colors.land, 0.3), mix(colors.shade, colors.ink, 0.6)
    w = high * 0.2
    if legs:  # the two-legged one of Kanazawa
        for side, foot in ((-1, 2.3), (1, 1.7)):
            leg = bend(
                (x + side * w * 0.4, base - high * 0.5),
                (x + side * w * foot, base - high * 0.42),
                (x + side * w * foot, base),
            )
            canvas.line(leg, stone if side < 0 else dark, high * 0.055)
    else:
        canvas.box(x - w * 1.1, base - high * 0.08, x + w * 1.1, base, dark)
        canvas.box(x - w * 0.42, base - high * 0.52, x + w * 0.42, base, stone)
        canvas.box(x + w * 0.1, base - high * 0.52, x + w * 0.42, base, dark)
    canvas.shape(
        [
            (x - w * 1.1, base - high * 0.56),
            (x + w * 1.1, base - high * 0.56),
            (x + w * 0.6, base - high * 0.48),
            (x - w * 0.6, base - high * 0.48),
        ],
        stone,
    )
    canvas.box(x - w * 0.8, base - high * 0.76, x + w * 0.8, base - high * 0.56, stone)
    canvas.box(x - w * 0.4, base - high * 0.72, x + w * 0.4, base - high * 0.59, colors.lamp)
    roof(
        scene,
        x,
        base - high * 0.74,
        w * 1.9,
        high * 0.16,
        w * 0.25,
        mix(dark, stone, 0.25),
        w * 0.3,
    )
    canvas.disc(x, base - high * 0.92, w * 0.3, dark, high * 0.06)


def paper_lantern(scene: Scene, x: float, y: float, size: float, color: Color) -> None:
    canvas, colors = scene.canvas, scene.colors
    canvas.glow(x, y, size * 2.6, colors.lamp, 0.55)
    canvas.disc(x, y, size * 0.72, color, size)
    canvas.disc(x - size * 0.12, y, size * 0.42, mix(color, colors.lamp, 0.55), size * 0.86)
    for share in (-0.5, -0.17, 0.17, 0.5):
        half = size * 0.72 * (1 - share * share) ** 0.5
        canvas.line(
            [(x - half, y + share * size), (x + half, y + share * size)],
            mix(color, colors.ink, 0.22),
            size * 0.035,
        )
    for edge in (-1, 1):
        canvas.box(
            x - size * 0.34,
            y + edge * size - size * 0.09,
            x + size * 0.34,
            y + edge * size + size * 0.09,
            colors.ink,
        )
