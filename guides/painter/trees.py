"""Trees and plants, each with its foot at (x, y)."""

import math

from guides.painter.canvas import Color, Point, bend, mix
from guides.painter.scene import WIDTH, Scene


def fir(scene: Scene, x: float, y: float, high: float, color: Color) -> None:
    wide = high * 0.2
    scene.canvas.box(x - high * 0.02, y - high * 0.1, x + high * 0.02, y, color)
    for tier in range(4):
        top = y - high + tier * high * 0.2
        low = top + high * 0.34
        reach = wide * (0.42 + 0.2 * tier)
        scene.canvas.shape(
            [(x, top), (x + reach, low), (x, low - high * 0.04), (x - reach, low)], color
        )


def firs(scene: Scene, y: float, high: float, color: Color, gap: float = 26) -> None:
    """A row of firs along the whole width."""
    x = -20.0
    while x < WIDTH + 20:
        fir(scene, x, y + scene.between(0, 8), high * scene.between(0.55, 1), color)
        x += gap * scene.between(0.5, 1.2)


def crown(scene: Scene, x: float, y: float, size: float, color: Color, clumps: int = 9) -> None:
    """Round leafage in three tones: shadow, body, light from above."""
    canvas = scene.canvas
    spots = []
    for _ in range(clumps):
        angle, far = scene.between(0, math.tau), scene.between(0.15, 0.75)
        spots.append(
            (
                x + math.cos(angle) * far * size,
                y + math.sin(angle) * far * size * 0.62,
                scene.between(0.3, 0.5) * size,
            )
        )
    for dx, dy, scale, tone in (
        (0.05, 0.12, 1.0, mix(color, scene.colors.ink, 0.28)),
        (0.0, 0.0, 0.95, color),
        (-0.09, -0.12, 0.6, mix(color, scene.colors.cloud, 0.22)),
    ):
        for cx, cy, reach in spots:
            canvas.disc(cx + dx * size, cy + dy * size, reach * scale, tone, reach * scale * 0.8)


def broadleaf(scene: Scene, x: float, y: float, high: float, color: Color | None = None) -> None:
    colors = scene.colors
    bark = mix(colors.roof, colors.ink, 0.5)
    wide = high * 0.05
    scene.canvas.shape(
        [
            (x - wide, y),
            (x - wide * 0.4, y - high * 0.6),
            (x + wide * 0.4, y - high * 0.6),
            (x + wide, y),
        ],
        bark,
    )
    for reach in (-0.22, 0.2):
        scene.canvas.line(
            [(x, y - high * 0.38), (x + reach * high, y - high * 0.62)], bark, wide * 0.7
        )
    crown(scene, x, y - high * 0.7, high * 0.4, color or colors.bloom or colors.leaf, 12)


def bushes(
    scene: Scene, y: float, size: float, color: Color, left: float = -20, right: float = WIDTH + 20
) -> None:
    x = left
    while x < right:
        reach = size * scene.between(0.6, 1.15)
        scene.canvas.disc(x, y, reach, color, reach * 0.75)
        x += reach * 0.85


def matsu(
    scene: Scene, x: float, y: float, high: float, lean: int, color: Color | None = None
) -> None:
    """A Japanese pine: a bent trunk carrying flat pads of needles."""
    colors = scene.colors
    # Pines stay green when other leaves turn.
    needles = color or mix(mix(colors.leaf, (40, 92, 74), 0.5), colors.land, 0.45)
    bark = mix(colors.roof, colors.ink, 0.6)
    trunk = bend(
        (x, y), (x - lean * high * 0.28, y - high * 0.45), (x + lean * high * 0.2, y - high * 0.88)
    )
    _limb(scene, trunk, high * 0.04, high * 0.012, bark)
    for at, reach, size in (
        (5, 0.36, 0.25),
        (7, -0.34, 0.24),
        (9, 0.34, 0.26),
        (11, -0.24, 0.23),
        (12, 0.2, 0.22),
        (14, 0.0, 0.24),
    ):
        fx, fy = trunk[at]
        px, py = fx + lean * reach * high * 0.8, fy - high * 0.05
        scene.canvas.line([(fx, fy), (px, py)], bark, high * 0.016)
        _pad(scene, px, py, size * high, needles)


def _limb(scene: Scene, spine: list[Point], foot: float, tip: float, color: Color) -> None:
    """A trunk along its spine, from half-width foot to half-width tip."""
    last = len(spine) - 1
    halves = [foot + (tip - foot) * (i / last) ** 0.7 for i in range(last + 1)]
    left = [(x - half, y) for (x, y), half in zip(spine, halves, strict=True)]
    right = [(x + half, y) for (x, y), half in zip(spine, halves, strict=True)]
    scene.canvas.shape([*left, *reversed(right)], color)


def _pad(scene: Scene, x: float, y: float, size: float, color: Color) -> None:
    dark, light = mix(color, scene.colors.ink, 0.35), mix(color, scene.colors.cloud, 0.16)
    for tone, drop, scale in ((dark, 0.1, 1.0), (color, 0.0, 0.96), (light, -0.1, 0.62)):
        for dx, reach in ((-0.6, 0.42), (-0.15, 0.5), (0.3, 0.52), (0.68, 0.36)):
            scene.canvas.disc(
                x + dx * size,
                y + (drop - reach * 0.25) * size,
                reach * size * scale,
                tone,
                reach * size * scale * 0.5,
            )


def palm(scene: Scene, x: float, y: float, high: float, lean: float, color: Color) -> None:
    trunk = bend(
        (x, y), (x + lean * high * 0.1, y - high * 0.55), (x + lean * high * 0.42, y - high)
    )
    _limb(scene, trunk, high * 0.022, high * 0.011, color)
    tx, ty = trunk[-1]
    for turn in (-172, -148, -118, -88, -58, -28, -5, 18, 162):
        _frond(scene, tx, ty, high * scene.between(0.36, 0.46), turn + scene.between(-8, 8), color)
    for dx in (-6, 5):
        scene.canvas.disc(tx + dx, ty + 8, high * 0.018, mix(color, scene.colors.accent, 0.3))


def _frond(scene: Scene, x: float, y: float, long: float, turn: float, color: Color) -> None:
    angle = math.radians(turn)
    tip = (x + math.cos(angle) * long, y + math.sin(angle) * long * 0.75 + long * 0.34)
    pull = (x + math.cos(angle) * long * 0.6, y + math.sin(angle) * long * 0.75 - long * 0.12)
    spine = bend((x, y), pull, tip, 16)
    upper: list[Point] = []
    lower: list[Point] = []
    for i, (px, py) in enumerate(spine):
        body = math.sin(math.pi * min(1, i / 16 + 0.06)) * long * 0.085
        upper.append((px, py - body * 0.5))
        lower.append((px, py + body * (1.5 if i % 2 else 0.55)))
    scene.canvas.shape([*upper, *reversed(lower)], color)


def cypress(scene: Scene, x: float, y: float, high: float, color: Color) -> None:
    wide = high * 0.1
    left = bend((x, y - high), (x - wide * 1.5, y - high * 0.4), (x - wide * 0.4, y))
    right = bend((x + wide * 0.4, y), (x + wide * 1.5, y - high * 0.4), (x, y - high))
    scene.canvas.shape([*left, *right], color)
    lit = bend((x, y - high), (x - wide * 1.4, y - high * 0.4), (x - wide * 0.3, y))
    scene.canvas.shape(
        [*lit, (x - wide * 0.3, y - high * 0.3)], mix(color, scene.colors.cloud, 0.12)
    )
