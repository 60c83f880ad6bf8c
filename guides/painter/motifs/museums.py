"""Columns and steps, or glass before a palace."""

from guides.painter.canvas import Point, mix
from guides.painter.land import hills
from guides.painter.people import crowd
from guides.painter.scene import BOTTOM, WIDTH, Scene
from guides.painter.trees import bushes, cypress


def museum(scene: Scene) -> None:
    """Columns and steps, or a pyramid of glass before a palace."""
    colors = scene.colors
    hills(scene, 560, 100, 1, 0.25)
    bushes(scene, 600, 90, mix(colors.distant(0.5), colors.leaf, 0.3))
    if scene.says("louvre", "ルーヴル", "ルーブル", "glass", "modern", "21世紀"):
        _palace_front(scene)
        _glass_pyramid(scene, 512 + scene.side() * 30, 680, 250)
    else:
        _portico(scene)
    crowd(scene, 6, 738, 54, 200, 840)


def _palace_front(scene: Scene) -> None:
    canvas, colors = scene.canvas, scene.colors
    wall, base = scene.dim(mix(colors.wall, colors.lamp, 0.2), 0.85), 640.0
    tile = scene.dim(mix(colors.roof, colors.water, 0.3), 0.75)
    for cx, half, high in ((512, 540, 170), (130, 90, 215), (512, 110, 230), (894, 90, 215)):
        canvas.box(cx - half, base - high, cx + half, base, wall)
        canvas.shape(
            [
                (cx - half - 6, base - high),
                (cx - half * 0.9 + 8, base - high - 74),
                (cx + half * 0.9 - 8, base - high - 74),
                (cx + half + 6, base - high),
            ],
            tile,
        )
        canvas.box(
            cx - half - 6,
            base - high - 2,
            cx + half + 6,
            base - high + 8,
            mix(wall, colors.ink, 0.2),
        )
        count = int(half / 20)
        for row in range(2):
            for window in range(count):
                x = cx - half + 2 * half * (window + 0.5) / count
                y = base - 26 - row * 78
                glass = (
                    colors.lamp
                    if colors.moon or colors.name == "dusk"
                    else mix(wall, colors.ink, 0.42)
                )
                canvas.box(x - 8, y - 42, x + 8, y, glass)
                canvas.disc(x, y - 42, 8, glass)
    stone = mix(colors.wall, colors.shade, 0.45)
    canvas.shaded(
        [(0, base), (WIDTH, base), (WIDTH, BOTTOM), (0, BOTTOM)],
        stone,
        mix(stone, colors.ink, 0.25),
    )
    for ray in range(-9, 10):
        canvas.line(
            [(512 + ray * 50, base), (512 + ray * 130, BOTTOM)], mix(stone, colors.ink, 0.1), 1.5
        )


def _glass_pyramid(scene: Scene, cx: float, base: float, half: float) -> None:
    canvas, colors = scene.canvas, scene.colors
    tip: Point = (cx, base - half * 1.28)
    glass = mix(colors.sky[1], colors.cloud, 0.35)
    edge = cx + half * 0.28
    canvas.glow(cx, base - half * 0.5, half * 1.5, colors.lamp, 0.5)
    canvas.shaded(
        [(cx - half, base), tip, (edge, base + 18)],
        mix(glass, colors.cloud, 0.3),
        mix(glass, colors.lamp, 0.45),
    )
    canvas.shaded(
        [(edge, base + 18), tip, (cx + half, base)],
        mix(glass, colors.ink, 0.2),
        mix(glass, colors.ink, 0.42),
    )
    bars = mix(glass, colors.ink, 0.35)
    for start, end in (
        ((cx - half, base), (edge, base + 18)),
        ((edge, base + 18), (cx + half, base)),
    ):
        for i in range(1, 12):
            t = i / 12
            foot = _part(start, end, t)
            canvas.line([foot, _part(end, tip, 1 - t)], bars, 1.3)
            canvas.line([foot, _part(start, tip, t)], bars, 1.3)
    canvas.line([tip, (edge, base + 18)], mix(glass, colors.cloud, 0.6), 2.4)
    for dx in (-1, 1):
        w = half * 0.28
        x = cx + dx * half * 1.45
        canvas.shape(
            [(x - w, base + 14), (x, base + 14 - w * 1.2), (x + w, base + 14)],
            mix(glass, colors.ink, 0.15),
        )


def _part(a: Point, b: Point, share: float) -> Point:
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share


def _portico(scene: Scene) -> None:
    canvas, colors = scene.canvas, scene.colors
    wall, dark = colors.wall, colors.shade
    cx, base = 512.0, 650.0
    for side in (-1, 1):
        canvas.box(
            cx + side * 300 - 130,
            base - 190,
            cx + side * 300 + 130,
            base,
            mix(wall, dark, 0.35 if side < 0 else 0.7),
        )
        canvas.box(cx + side * 300 - 138, base - 204, cx + side * 300 + 138, base - 186, wall)
        for window in range(4):
            x = cx + side * 300 - 92 + window * 62
            canvas.box(
                x - 12,
                base - 140,
                x + 12,
                base - 60,
                colors.lamp if colors.moon else mix(dark, colors.ink, 0.35),
            )
    canvas.box(cx - 230, base - 270, cx + 230, base, mix(dark, colors.ink, 0.35))
    canvas.box(cx - 26, base - 130, cx + 26, base, colors.lamp)
    for column in range(7):
        x = cx - 204 + column * 68
        canvas.box(x - 17, base - 258, x + 17, base, wall)
        canvas.box(x + 4, base - 258, x + 17, base, dark)
        canvas.box(x - 23, base - 270, x + 23, base - 256, wall)
        canvas.box(x - 21, base - 10, x + 21, base, wall)
    canvas.box(cx - 250, base - 312, cx + 250, base - 270, wall)
    canvas.box(cx - 250, base - 278, cx + 250, base - 270, dark)
    canvas.shape([(cx - 264, base - 312), (cx, base - 410), (cx + 264, base - 312)], wall)
    canvas.shape(
        [(cx - 196, base - 322), (cx, base - 394), (cx + 196, base - 322)], mix(wall, dark, 0.6)
    )
    canvas.disc(cx, base - 346, 17, mix(colors.lamp, colors.accent, 0.2))
    for step in range(7):
        canvas.box(
            cx - 250 - 16 * step,
            base + 11 * step,
            cx + 250 + 16 * step,
            base + 11 * (step + 1),
            mix(wall, dark, 0.15 + 0.12 * step),
        )
    stone = mix(colors.shade, colors.land, 0.2)
    canvas.shaded(
        [(0, base + 77), (WIDTH, base + 77), (WIDTH, BOTTOM), (0, BOTTOM)],
        stone,
        mix(stone, colors.ink, 0.3),
    )
    for side in (-1, 1):
        cypress(scene, cx + side * 450, base + 80, 250, mix(colors.leaf, colors.ink, 0.3))
        cypress(scene, cx + side * 396, base + 76, 190, mix(colors.leaf, colors.ink, 0.25))
