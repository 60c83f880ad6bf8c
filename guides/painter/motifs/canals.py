"""Palaces along a canal."""

from guides.painter.boats import gondola
from guides.painter.canvas import Color, arc, mix
from guides.painter.land import hills, water
from guides.painter.scene import BOTTOM, Scene


def canal(scene: Scene) -> None:
    """Palaces on both sides, a dome at the end, a gondola in front."""
    colors, canvas = scene.colors, scene.canvas
    line = 566.0
    hills(scene, 560, 60, 1, 0.3)
    _dome_church(scene, 512 + scene.side() * 40, line, 250)
    walls = [
        colors.wall,
        mix(colors.wall, colors.accent, 0.45),
        mix(colors.wall, colors.lamp, 0.5),
        mix(colors.wall, colors.roof, 0.3),
        mix(colors.accent, colors.lamp, 0.4),
    ]
    for side in (-1, 1):
        for house in (3, 2, 1, 0):
            t0, t1 = (0.0, 0.34, 0.6, 0.8)[house], (0.34, 0.6, 0.8, 0.93)[house]
            wall = scene.dim(walls[(house * 2 + (side > 0)) % 5], 1 - 0.14 * house)
            _palace(scene, side, t0, t1, line, 440 + scene.between(-60, 40), wall)
    water(scene, line + 2, BOTTOM, 0.62)
    for side in (-1, 1):
        for post in range(3):
            x = 512 + side * (330 + post * 50)
            y = 690 + post * 26
            for stripe in range(9):
                canvas.box(
                    x - 5,
                    y - 160 + stripe * 18,
                    x + 5,
                    y - 142 + stripe * 18,
                    colors.accent if stripe % 2 else colors.wall,
                )
            canvas.disc(x, y - 162, 7, colors.lamp)
    gondola(scene, 512, 726, 380)


def _palace(
    scene: Scene, side: int, t0: float, t1: float, line: float, high: float, wall: Color
) -> None:
    colors, canvas = scene.colors, scene.canvas
    x0, x1 = (512 + side * (540 - 440 * t) for t in (t0, t1))
    h0, h1 = high * (1 - 0.82 * t0), high * (1 - 0.82 * t1)
    b0, b1 = line + 80 * (1 - t0), line + 80 * (1 - t1)
    b0, b1 = max(line + 2, line), max(line + 2, line)
    tone = wall if side < 0 else mix(wall, colors.ink, 0.22)
    canvas.shape([(x0, b0), (x0, b0 - h0), (x1, b1 - h1), (x1, b1)], tone)
    roof_color = scene.dim(mix(colors.accent, colors.roof, 0.5), 1 - 0.5 * t0)
    canvas.shape(
        [
            (x0, b0 - h0 - 12 * (1 - t0)),
            (x0, b0 - h0 + 8 * (1 - t0)),
            (x1 - side * 6, b1 - h1 + 6 * (1 - t1)),
            (x1 - side * 6, b1 - h1 - 10 * (1 - t1)),
        ],
        roof_color,
    )
    floors, columns = 4, 5
    glass = (
        colors.lamp
        if colors.moon or colors.name in ("dusk", "sunset")
        else mix(wall, colors.ink, 0.6)
    )
    for floor in range(floors):
        for column in range(columns):
            u = (column + 0.5) / columns
            x = x0 + (x1 - x0) * u
            h, b = h0 + (h1 - h0) * u, b0 + (b1 - b0) * u
            w = abs(x1 - x0) / columns * 0.24
            y = b - h * (0.12 + 0.22 * floor)
            tall = h * 0.12
            canvas.box(x - w, y - tall, x + w, y, glass)
            canvas.disc(x, y - tall, w, glass, w * 1.3)
        y0, y1 = b0 - h0 * (0.09 + 0.22 * floor), b1 - h1 * (0.09 + 0.22 * floor)
        canvas.line([(x0, y0), (x1, y1)], mix(tone, colors.cloud, 0.35), 2)


def _dome_church(scene: Scene, x: float, base: float, high: float) -> None:
    colors, canvas = scene.colors, scene.canvas
    wall, dome = scene.dim(colors.wall, 0.8), scene.dim(mix(colors.roof, colors.water, 0.4), 0.7)
    canvas.box(x - high * 0.42, base - high * 0.36, x + high * 0.42, base, wall)
    canvas.box(
        x - high * 0.24, base - high * 0.52, x + high * 0.24, base, mix(wall, colors.haze, 0.3)
    )
    for dx, size in ((-0.3, 0.1), (0.3, 0.1), (0, 0.25)):
        top = base - high * (0.36 if dx else 0.52)
        canvas.shape(arc(x + dx * high, top, high * size, high * size * 1.25), dome)
        canvas.shape(
            [
                *arc(x + dx * high, top, high * size, high * size * 1.25, 285, 360),
                (x + dx * high + high * size * 0.3, top),
            ],
            mix(dome, colors.ink, 0.2),
        )
        canvas.box(
            x + dx * high - 4,
            top - high * size * 1.6,
            x + dx * high + 4,
            top - high * size * 1.2,
            wall,
        )
