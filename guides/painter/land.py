"""Hills, mountains, water and what falls through the air."""

import math
from collections.abc import Sequence
from itertools import pairwise

from PIL import Image

from guides.painter.canvas import FINE, SIZE, Color, Point, gradient, mix
from guides.painter.scene import BOTTOM, WIDTH, Scene


def ridge(scene: Scene, y: float, height: float, rough: float = 0.35) -> list[Point]:
    """The upper edge of rolling land, from left to right."""
    waves = [
        (scene.between(0.7, 1.5), scene.between(0, 7), 0.6),
        (scene.between(2, 3.5), scene.between(0, 7), 0.4),
        (scene.between(5, 9), scene.between(0, 7), 0.4 * rough),
        (scene.between(14, 22), scene.between(0, 7), 0.16 * rough),
    ]
    points = []
    for x in range(-8, WIDTH + 17, 8):
        rise = sum(
            size * math.sin(speed * math.tau * x / WIDTH + phase) for speed, phase, size in waves
        )
        points.append((float(x), y - height * (0.5 + 0.5 * rise)))
    return points


def roughen(scene: Scene, points: Sequence[Point], amount: float) -> list[Point]:
    """The same line, broken at random."""
    result = list(points)
    for _ in range(4):
        finer = []
        for a, b in pairwise(result):
            middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2 + scene.between(-amount, amount))
            finer += [a, middle]
        result = [*finer, result[-1]]
        amount *= 0.5
    return result


def fill_below(
    scene: Scene, edge: Sequence[Point], color: Color, foot: Color | None = None, to: float = BOTTOM
) -> None:
    """Land under an edge; towards its foot it fades into mist."""
    outline = [*edge, (edge[-1][0], to), (edge[0][0], to)]
    if foot is None:
        scene.canvas.shape(outline, color)
    else:
        scene.canvas.shaded(outline, color, foot)


def hills(scene: Scene, y: float, height: float, layers: int = 3, near: float = 0.55) -> None:
    """Ranges one behind the other, paler with distance, ending at y."""
    for layer in range(layers):
        share = layer / max(layers - 1, 1)
        edge = ridge(scene, y - height * 0.5 * (1 - share), height * (1 - 0.45 * share))
        color = scene.colors.distant(near * (0.3 + 0.7 * share))
        fill_below(scene, edge, color, mix(color, scene.colors.haze, 0.55), y + 40)


def ground(scene: Scene, y: float, near: float = 0.8, green: float = 0.5) -> None:
    """The ground at our feet, gently uneven."""
    colors = scene.colors
    color = mix(colors.distant(near), colors.leaf, green)
    fill_below(scene, ridge(scene, y + 6, 12, 0.2), color, mix(color, colors.ink, 0.35))


def water(scene: Scene, line: float, to: float = BOTTOM, still: float = 0.5) -> None:
    """Water below `line` that mirrors what has been painted above it."""
    canvas, colors = scene.canvas, scene.colors
    top, bottom = (round((y + canvas.shift) * FINE) for y in (line, to))
    high, wide = bottom - top, canvas.image.width
    reach = min(top, round(high * 1.25))
    mirror = canvas.image.crop((0, top - reach, wide, top)).transpose(
        Image.Transpose.FLIP_TOP_BOTTOM
    )
    mirror = mirror.resize((wide, high), Image.Resampling.BILINEAR)
    deep = mix(colors.water, colors.ink, 0.4)
    tone = gradient([mix(colors.water, colors.haze, 0.35), colors.water, deep], mirror.size)
    mirror = Image.blend(tone, mirror, still)
    phase = scene.between(0, 7)
    strip = 5
    for y in range(0, high, strip):
        depth = y / high
        sway = math.sin(y * 0.11 / (0.35 + depth) + phase) * (2 + 16 * depth)
        row = mirror.crop((0, y, wide, min(y + strip, high)))
        canvas.image.paste(row, (0, top + y))
        canvas.image.paste(row, (round(sway), top + y))
    _ripples(scene, line, to)


def _ripples(scene: Scene, line: float, to: float) -> None:
    colors = scene.colors
    for _ in range(46):
        depth = scene.between(0.03, 1) ** 1.3
        y = line + depth * (to - line)
        color = mix(colors.water, colors.cloud if scene.maybe(0.6) else colors.ink, 0.3)
        long = (14 + 90 * depth) * scene.between(0.4, 1)
        scene.canvas.pill(scene.between(0, WIDTH), y, long, 1.2 + 1.6 * depth, color)
    x = scene.orb[0]
    for step in range(26):  # the path of light under sun or moon
        depth = (step + 0.5) / 26
        color = mix(mix(colors.water, colors.haze, 0.4), colors.orb, 0.75 - 0.3 * depth)
        long = (16 + 70 * depth) * scene.between(0.3, 1)
        scene.canvas.pill(
            x + scene.between(-22, 22) * (0.3 + depth),
            line + 4 + depth * (to - line) * 0.9,
            long,
            1.6 + 2.4 * depth,
            color,
        )


def falling(scene: Scene) -> None:
    """Petals, leaves or snow in the air, where the season has them."""
    colors = scene.colors
    if colors.name == "winter":
        for _ in range(150):
            scene.canvas.disc(
                scene.between(0, SIZE),
                scene.between(-180, BOTTOM),
                scene.between(0.8, 2.6),
                colors.cloud,
            )
    elif colors.bloom:
        for _ in range(34):
            x, y, size = scene.between(0, SIZE), scene.between(150, BOTTOM), scene.between(2, 4.2)
            tint = mix(colors.bloom, colors.cloud, scene.between(0, 0.5))
            scene.canvas.shape(
                [
                    (x - size, y),
                    (x, y - size * 0.6),
                    (x + size, y + size * 0.2),
                    (x, y + size * 0.7),
                ],
                tint,
            )
