"""Towers above the roofs."""

from itertools import pairwise

from guides.painter.canvas import Color, arc, mix
from guides.painter.houses import blocks
from guides.painter.land import ground, hills
from guides.painter.scene import BOTTOM, WIDTH, Scene
from guides.painter.trees import broadleaf, bushes


def tower(scene: Scene) -> None:
    """A lattice tower above the roofs."""
    colors, canvas = scene.colors, scene.canvas
    red = scene.japan
    hills(scene, 560, 90, 1, 0.25)
    blocks(scene, 640, 60, 190, colors.distant(0.28), 0.25)
    cx = 512 + scene.side() * scene.between(0, 130)
    canvas.glow(cx, 420, 330, colors.lamp, 0.35)
    blocks(scene, 660, 40, 130, colors.distant(0.5), 0.35)
    canvas.box(0, 656, WIDTH, 720, colors.distant(0.55))
    if scene.says("clock", "big ben", "時計"):
        _clock_tower(scene, cx, 690)
    elif scene.says("belém", "belem", "fort"):
        _stone_tower(scene, cx, 690)
    else:
        iron = colors.accent if red else mix(colors.roof, colors.accent, 0.22)
        _lattice(scene, cx, 690, 590, iron, red)
    ground(scene, 688, 0.85, 0.55)
    for x in range(-20, WIDTH + 60, 64):
        if abs(x - cx) > 70:
            broadleaf(scene, x + scene.between(-12, 12), 752, scene.between(90, 140))
    bushes(scene, BOTTOM + 6, 46, mix(colors.leaf, colors.ink, 0.5))


def _lattice(scene: Scene, cx: float, base: float, high: float, color: Color, red: bool) -> None:
    canvas, colors = scene.canvas, scene.colors
    dark = mix(color, colors.ink, 0.35)
    top = base - high
    spread = high * 0.215

    def half(y: float) -> float:
        share = (base - y) / (high * 0.9)
        return max(spread * float((1 - share) ** 1.75), 3.5)

    levels = [
        base - high * s
        for s in (0, 0.08, 0.16, 0.23, 0.3, 0.36, 0.42, 0.48, 0.54, 0.6, 0.66, 0.72, 0.78, 0.84)
    ]
    for low, up in pairwise(levels):
        a, b = half(low), half(up)
        band = color if not red or levels.index(low) % 2 == 0 else mix(colors.wall, color, 0.1)
        for side in (-1, 1):
            leg = max(a * 0.24, 3.2)
            leg_up = max(b * 0.24, 3.2)
            canvas.shape(
                [
                    (cx + side * a, low),
                    (cx + side * b, up),
                    (cx + side * (b - leg_up), up),
                    (cx + side * (a - leg), low),
                ],
                band if side < 0 else mix(band, colors.ink, 0.25),
            )
        width = max(1.2, a * 0.035)
        canvas.line([(cx - a * 0.86, low), (cx + b * 0.86, up)], dark, width)
        canvas.line([(cx + a * 0.86, low), (cx - b * 0.86, up)], dark, width)
        canvas.line([(cx - b, up), (cx + b, up)], dark, width * 1.3)
    canvas.shape(
        [
            *arc(cx, base, spread * 0.68, spread * 0.62),
            *reversed(arc(cx, base, spread * 0.58, spread * 0.5)),
        ],
        dark,
    )
    for share, grow, tall in ((0.3, 1.3, 24), (0.6, 1.7, 20)):
        y = base - high * share
        reach = half(y) * grow + 6
        canvas.box(
            cx - reach, y - tall, cx + reach, y, mix(colors.wall, color, 0.25) if red else color
        )
        canvas.box(cx - reach, y - tall * 0.62, cx + reach, y - tall * 0.3, colors.lamp)
        canvas.box(cx - reach, y - 4, cx + reach, y, dark)
    canvas.shape(
        [(cx - 6, base - high * 0.84), (cx + 6, base - high * 0.84), (cx + 2, top), (cx - 2, top)],
        color,
    )
    canvas.box(cx - 11, base - high * 0.86, cx + 11, base - high * 0.84, dark)


def _clock_tower(scene: Scene, cx: float, base: float) -> None:
    canvas, colors = scene.canvas, scene.colors
    wall, dark = mix(colors.wall, colors.lamp, 0.35), mix(colors.shade, colors.lamp, 0.15)
    canvas.box(cx - 56, base - 390, cx + 56, base, wall)
    canvas.box(cx + 16, base - 390, cx + 56, base, dark)
    for rib in range(-48, 56, 16):
        canvas.box(cx + rib, base - 280, cx + rib + 4, base, mix(wall, colors.ink, 0.25))
    canvas.box(cx - 66, base - 400, cx + 66, base - 288, wall)
    canvas.box(cx + 24, base - 400, cx + 66, base - 288, dark)
    canvas.disc(cx, base - 344, 45, mix(colors.accent, colors.ink, 0.3))
    canvas.disc(cx, base - 344, 39, mix(colors.lamp, colors.cloud, 0.5))
    canvas.line([(cx, base - 344), (cx, base - 374)], colors.ink, 4)
    canvas.line([(cx, base - 344), (cx + 20, base - 334)], colors.ink, 5)
    tile = mix(colors.roof, colors.leaf, 0.2)
    canvas.shape(
        [
            (cx - 70, base - 400),
            (cx - 34, base - 462),
            (cx + 34, base - 462),
            (cx + 70, base - 400),
        ],
        tile,
    )
    canvas.box(cx - 30, base - 488, cx + 30, base - 462, colors.lamp)
    canvas.shape([(cx - 38, base - 486), (cx, base - 590), (cx + 38, base - 486)], tile)


def _stone_tower(scene: Scene, cx: float, base: float) -> None:
    canvas, colors = scene.canvas, scene.colors
    wall, dark = colors.wall, colors.shade
    for half, low, up in ((190, 0, 120), (100, 120, 340), (76, 340, 430)):
        canvas.box(cx - half, base - up, cx + half, base - low, wall)
        canvas.box(cx + half * 0.4, base - up, cx + half, base - low, dark)
        for tooth in range(int(-half), int(half), 24):
            canvas.box(
                cx + tooth,
                base - up - 16,
                cx + tooth + 14,
                base - up,
                wall if tooth < half * 0.4 else dark,
            )
        for end in (-1, 1):
            x = cx + end * half
            canvas.box(x - 14, base - up - 30, x + 14, base - up + 34, wall if end < 0 else dark)
            canvas.shape(arc(x, base - up - 30, 15, 22), mix(colors.wall, colors.roof, 0.5))
    for x, y in ((-50, 180), (0, 180), (50, 180), (-40, 270), (0, 270), (40, 270), (0, 380)):
        canvas.box(
            cx + x - 9, base - y - 30, cx + x + 9, base - y, mix(colors.roof, colors.ink, 0.3)
        )
        canvas.disc(cx + x, base - y - 30, 9, mix(colors.roof, colors.ink, 0.3))
