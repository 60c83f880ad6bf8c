"""Beach and harbour."""

import math

from guides.painter.boats import hull, sailboat, ship
from guides.painter.canvas import Point, arc, bend, mix
from guides.painter.land import fill_below, hills, ridge, water
from guides.painter.scene import BOTTOM, WIDTH, Scene
from guides.painter.trees import bushes, palm


def beach(scene: Scene) -> None:
    """Palms over a bay."""
    colors, canvas = scene.colors, scene.canvas
    side = scene.side()
    line = 500.0
    edge = ridge(scene, line, 110, 0.4)
    rise = [(x, line - (line - y) * max(0.0, (x - 512) * side / 512)) for x, y in edge]
    fill_below(scene, rise, colors.distant(0.5), colors.distant(0.35), line + 10)
    water(scene, line, BOTTOM, 0.3)
    sailboat(scene, 512 + side * scene.between(0, 120), 560, 96)
    sailboat(scene, 512 + side * 260, 526, 40)
    sand = mix(colors.wall, colors.lamp, 0.4)
    x0, x1 = (0, WIDTH) if side > 0 else (WIDTH, 0)
    shallows = mix(colors.water, colors.cloud, 0.45)
    for drop, color in (
        (-44, shallows),
        (-16, mix(colors.cloud, (255, 255, 255), 0.5)),
        (-6, mix(sand, colors.roof, 0.25)),
        (6, sand),
    ):
        shore = bend((x0, 610 + drop), ((x0 * 2 + x1) / 3, 690 + drop), (x1, 760 + drop), 40)
        wavy = [(x, y + 5 * math.sin(x / 46)) for x, y in shore]
        canvas.shape([*wavy, (x1, BOTTOM), (x0, BOTTOM)], color)
    canvas.veil(720, BOTTOM, colors.roof, 0, 0.22)
    _parasol(scene, 512 + side * 40, 756, 118)
    tree = mix(colors.ink, colors.leaf, 0.3)
    root = 512 - side * 380
    palm(scene, root, 772, 480, side * 0.6, tree)
    palm(scene, root - side * 50, 780, 370, side * 1.0, tree)
    palm(scene, root - side * 90, 776, 420, -side * 0.3, tree)
    bushes(scene, BOTTOM + 6, 34, tree, root - 170, root + 150)


def _parasol(scene: Scene, x: float, y: float, high: float) -> None:
    colors, canvas = scene.colors, scene.canvas
    canvas.disc(x + 30, y + 2, high * 0.7, mix(colors.wall, colors.roof, 0.45), 9)
    canvas.line([(x, y), (x - high * 0.12, y - high)], colors.ink, 4)
    cx, cy, r = x - high * 0.1, y - high * 0.72, high * 0.62
    top = arc(cx, cy, r, r * 0.55)
    for i in range(0, 24, 4):
        color = colors.accent if i // 4 % 2 == 0 else mix(colors.cloud, (255, 255, 255), 0.5)
        canvas.shape(
            [(cx, cy - r * 0.55), *top[i : i + 5], (top[i + 4][0], cy + 6), (top[i][0], cy + 6)],
            color,
        )
    canvas.pill(x + 90, y - 2, 74, 12, colors.accent)
    canvas.pill(x + 62, y - 12, 12, 24, colors.accent)


def harbour(scene: Scene) -> None:
    """A lighthouse on its rock, and a ship under sail."""
    colors, canvas = scene.colors, scene.canvas
    side = scene.side()
    line = 590.0
    hills(scene, 580, 120, 3, 0.4)
    x = 512 - side * 250
    rock = mix(colors.distant(0.9), colors.ink, 0.2)
    _lighthouse(scene, x, 600)
    ship(scene, 512 + side * 210, line + 6, 300, side)
    water(scene, line, BOTTOM, 0.55)
    _lighthouse(scene, x, 600)
    edge: list[Point] = [
        (x - side * 330, 660),
        (x - side * 170, 600),
        (x - side * 60, 590),
        (x + side * 60, 594),
        (x + side * 140, 640),
        (x + side * 230, 664),
        (x + side * 320, BOTTOM),
    ]
    canvas.shaded([*edge, (x - side * 330, BOTTOM)], rock, mix(rock, colors.ink, 0.5))
    canvas.shape(
        [(x - side * 60, 590), (x + side * 60, 594), (x + side * 20, 650), (x - side * 120, 660)],
        mix(rock, colors.cloud, 0.14),
    )
    for i in range(8):
        canvas.pill(
            x + side * (210 + i * 16), 672 + i * 15, 70, 5, mix(colors.water, colors.cloud, 0.6)
        )
    hull(scene, 512 + side * 210, line + 6, 300, side)
    _gulls(scene)


def _lighthouse(scene: Scene, x: float, base: float) -> None:
    colors, canvas = scene.colors, scene.canvas
    high, foot, head = 330.0, 44.0, 27.0
    for band in range(6):
        t0, t1 = band / 6, (band + 1) / 6
        w0, w1 = foot + (head - foot) * t0, foot + (head - foot) * t1
        y0, y1 = base - high * t0, base - high * t1
        color = colors.accent if band % 2 else colors.wall
        canvas.shape([(x - w0, y0), (x - w1, y1), (x + w1, y1), (x + w0, y0)], color)
        canvas.shape(
            [(x + w0 * 0.25, y0), (x + w1 * 0.25, y1), (x + w1, y1), (x + w0, y0)],
            mix(color, colors.ink, 0.3),
        )
    top = base - high
    canvas.box(x - 42, top - 8, x + 42, top, colors.ink)
    canvas.glow(x, top - 30, 170, colors.lamp, 0.85)
    canvas.box(x - 20, top - 52, x + 20, top - 8, colors.lamp)
    for dx in (-20, -1, 18):
        canvas.box(x + dx, top - 52, x + dx + 3, top - 8, colors.ink)
    canvas.shape([*arc(x, top - 50, 28, 30)], colors.accent)
    canvas.box(x - 1.5, top - 98, x + 1.5, top - 78, colors.ink)


def _gulls(scene: Scene) -> None:
    for _ in range(5):
        x, y, s = scene.between(150, 870), scene.between(170, 380), scene.between(9, 18)
        color = mix(scene.colors.cloud, (255, 255, 255), 0.5)
        scene.canvas.line(
            bend((x - s, y - s * 0.3), (x - s * 0.4, y - s * 0.8), (x, y)), color, 2.4
        )
        scene.canvas.line(
            bend((x, y), (x + s * 0.4, y - s * 0.8), (x + s, y - s * 0.3)), color, 2.4
        )
