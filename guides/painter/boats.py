"""Boats and ships, each with its waterline at y."""

from guides.painter.canvas import bend, mix
from guides.painter.scene import Scene


def sailboat(scene: Scene, x: float, y: float, high: float) -> None:
    canvas, colors = scene.canvas, scene.colors
    canvas.shape(
        [
            (x - high * 0.5, y),
            (x + high * 0.52, y),
            (x + high * 0.32, y + high * 0.15),
            (x - high * 0.36, y + high * 0.15),
        ],
        mix(colors.accent, colors.ink, 0.25),
    )
    canvas.line([(x, y), (x, y - high)], colors.ink, high * 0.022)
    canvas.shape(
        [
            (x + high * 0.03, y - high * 0.97),
            *bend(
                (x + high * 0.03, y - high * 0.97),
                (x + high * 0.42, y - high * 0.5),
                (x + high * 0.44, y - high * 0.08),
            ),
            (x + high * 0.03, y - high * 0.08),
        ],
        mix(colors.cloud, (255, 255, 255), 0.6),
    )
    canvas.shape(
        [
            (x - high * 0.03, y - high * 0.85),
            (x - high * 0.03, y - high * 0.08),
            (x - high * 0.36, y - high * 0.08),
        ],
        mix(colors.cloud, colors.accent, 0.18),
    )
    for i in range(4):
        canvas.pill(
            x,
            y + high * (0.2 + 0.1 * i),
            high * (0.7 - 0.14 * i),
            2.4,
            mix(colors.water, colors.cloud, 0.45),
        )


def ship(scene: Scene, x: float, y: float, high: float, side: int) -> None:
    colors, canvas = scene.colors, scene.canvas
    sail = mix(colors.cloud, (255, 250, 235), 0.6)
    for mast, tall in ((-0.3, 0.78), (0.02, 1.0), (0.3, 0.8)):
        mx = x + mast * high
        canvas.line([(mx, y), (mx, y - high * tall)], colors.ink, 4)
        for level in range(3):
            w = high * (0.15 - 0.03 * level) * (0.8 + tall * 0.2)
            top = y - high * tall * (0.5 + 0.17 * level) - 14
            low = top + high * tall * 0.16
            bulge = bend((mx - w, low), (mx + side * w * 0.3, low - 16), (mx + w, low))
            canvas.shape([(mx - w * 0.84, top), (mx + w * 0.84, top), *reversed(bulge)], sail)
            canvas.shape(
                [(mx + w * 0.3, top), (mx + w * 0.84, top), *reversed(bulge[9:])],
                mix(sail, colors.roof, 0.22),
            )
    nose = x + side * high * 0.62
    canvas.shape(
        [
            (nose, y - high * 0.2),
            (x + side * high * 0.32, y - high * 0.62),
            (x + side * high * 0.36, y - high * 0.16),
        ],
        mix(sail, colors.accent, 0.12),
    )
    hull(scene, x, y, high, side)


def hull(scene: Scene, x: float, y: float, high: float, side: int) -> None:
    colors, canvas = scene.colors, scene.canvas
    hull = mix(colors.roof, colors.ink, 0.4)
    canvas.shape(
        [
            (x - side * high * 0.5, y - high * 0.16),
            (x - side * high * 0.3, y - high * 0.1),
            (x + side * high * 0.3, y - high * 0.1),
            (x + side * high * 0.58, y - high * 0.19),
            (x + side * high * 0.4, y + 6),
            (x - side * high * 0.42, y + 6),
        ],
        hull,
    )
    canvas.line(
        [(x - side * high * 0.47, y - high * 0.09), (x + side * high * 0.47, y - high * 0.07)],
        colors.accent,
        5,
    )


def gondola(scene: Scene, x: float, y: float, long: float) -> None:
    colors, canvas = scene.colors, scene.canvas
    half = long / 2
    low = bend((x - half, y - 46), (x - half * 0.7, y + 34), (x, y + 26)) + bend(
        (x, y + 26), (x + half * 0.7, y + 34), (x + half, y - 60)
    )
    high = bend((x + half - 6, y - 56), (x + half * 0.62, y + 12), (x, y + 6)) + bend(
        (x, y + 6), (x - half * 0.62, y + 12), (x - half + 6, y - 44)
    )
    canvas.shape([*low, *high], colors.ink)
    canvas.line([(x + half - 3, y - 88), (x + half - 3, y - 50)], colors.ink, 6)
    for tooth in range(4):
        canvas.box(x + half - 3, y - 86 + tooth * 8, x + half + 9, y - 82 + tooth * 8, colors.ink)
    canvas.shape(
        [(x - 70, y + 8), (x - 60, y - 26), (x + 20, y - 26), (x + 34, y + 8)],
        mix(colors.accent, colors.ink, 0.1),
    )
    px = x - half * 0.62
    canvas.line([(px - 6, y + 4), (px, y - 44), (px + 8, y + 4)], colors.ink, 9)
    canvas.shape(
        [(px - 15, y - 44), (px + 15, y - 44), (px + 12, y - 92), (px - 12, y - 92)], colors.wall
    )
    for band in range(3):
        canvas.box(px - 13, y - 86 + band * 14, px + 13, y - 80 + band * 14, colors.accent)
    canvas.disc(px, y - 104, 10, mix(colors.wall, colors.roof, 0.4))
    canvas.pill(px, y - 112, 34, 5, colors.lamp)
    canvas.line(
        [(px + 10, y - 70), (px + 60, y - 40), (px + 150, y + 64)],
        mix(colors.roof, colors.ink, 0.3),
        4,
    )
    for i in range(5):
        canvas.pill(
            x + 12 * i,
            y + 36 + 9 * i,
            long * (0.8 - 0.12 * i),
            3,
            mix(colors.water, colors.ink, 0.35),
        )
