"""Pyramids behind dunes, columns that still stand."""

from guides.painter.canvas import Color, arc, bend, mix
from guides.painter.land import fill_below, ridge
from guides.painter.people import crowd
from guides.painter.scene import Scene
from guides.painter.trees import palm


def desert(scene: Scene) -> None:
    """Pyramids behind dunes, or columns that still stand."""
    colors, canvas = scene.colors, scene.canvas
    sand = mix(colors.lamp, colors.wall, 0.35)
    dark = mix(sand, colors.roof, 0.55)
    fill_below(scene, ridge(scene, 540, 40, 0.2), scene.dim(dark, 0.4), colors.haze, 620)
    ruins = scene.says("ruin", "temple", "forum", "acropolis", "遺跡", "parthenon", "roman", "神殿")
    if ruins:
        marble = mix(colors.wall, colors.cloud, 0.4)
        _columns(scene, marble, mix(marble, colors.roof, 0.45))
    else:
        for cx, half, near in ((760, 190, 0.6), (300, 150, 0.5), (500, 290, 0.9)):
            tip = (cx, 600 - half * 1.22)
            canvas.shape([(cx - half, 610), tip, (cx + half * 0.3, 610)], scene.dim(sand, near))
            canvas.shape([(cx + half * 0.3, 610), tip, (cx + half, 610)], scene.dim(dark, near))
    for y, near, high in ((604, 0.8, 40), (670, 0.92, 70), (760, 1.0, 60)):
        edge = ridge(scene, y, high, 0.05)
        fill_below(scene, edge, mix(colors.haze, sand, near), mix(sand, dark, 0.35 + 0.4 * near))
    if ruins:
        crowd(scene, 4, 700, 54, 300, 720)
    else:
        for step in range(4):
            _camel(scene, 540 + step * 84, 716, 62, mix(colors.roof, colors.ink, 0.3))
    for x, high in ((96, 190), (150, 240), (930, 170)):
        palm(scene, x, 770, high, scene.between(-0.3, 0.3), mix(colors.leaf, colors.ink, 0.4))


def _camel(scene: Scene, x: float, y: float, high: float, color: Color) -> None:
    canvas = scene.canvas
    for leg in (-0.34, -0.24, 0.2, 0.3):
        canvas.line(
            [(x + leg * high, y - high * 0.5), (x + (leg + 0.02) * high, y)], color, high * 0.06
        )
    canvas.disc(x, y - high * 0.56, high * 0.4, color, high * 0.17)
    canvas.shape(arc(x - high * 0.02, y - high * 0.6, high * 0.2, high * 0.3), color)
    neck = bend(
        (x + high * 0.32, y - high * 0.56),
        (x + high * 0.56, y - high * 0.46),
        (x + high * 0.54, y - high * 0.92),
    )
    canvas.line(neck, color, high * 0.09)
    canvas.pill(x + high * 0.62, y - high * 0.93, high * 0.26, high * 0.11, color)
    canvas.line(
        [(x - high * 0.38, y - high * 0.6), (x - high * 0.46, y - high * 0.36)], color, high * 0.04
    )
    canvas.shape(
        [
            (x - high * 0.2, y - high * 0.68),
            (x + high * 0.14, y - high * 0.68),
            (x + high * 0.18, y - high * 0.5),
            (x - high * 0.22, y - high * 0.5),
        ],
        scene.colors.accent,
    )


def _columns(scene: Scene, stone: Color, dark: Color) -> None:
    canvas, colors = scene.canvas, scene.colors
    base, high = 620.0, 290.0
    for step in range(3):
        canvas.box(
            190 - 18 * step,
            base - 24 + 14 * step,
            834 + 18 * step,
            base - 10 + 14 * step,
            mix(stone, dark, 0.2 * step),
        )
    for column in range(8):
        x = 226 + column * 82
        top = base - high if column < 6 else base - high * scene.between(0.45, 0.8)
        canvas.box(x - 21, top, x + 21, base - 24, stone)
        canvas.box(x + 4, top, x + 21, base - 24, dark)
        for flute in (-13, -5):
            canvas.box(x + flute, top + 10, x + flute + 2, base - 24, mix(stone, dark, 0.45))
        canvas.box(x - 28, top - 14, x + 28, top, mix(stone, colors.cloud, 0.2))
    canvas.box(186, base - high - 62, 664, base - high - 14, stone)
    canvas.box(186, base - high - 62, 664, base - high - 52, mix(stone, colors.cloud, 0.3))
    canvas.shape(
        [
            (176, base - high - 62),
            (420, base - high - 140),
            (560, base - high - 96),
            (590, base - high - 62),
        ],
        mix(stone, dark, 0.25),
    )
