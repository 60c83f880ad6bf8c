"""Rows of houses, and their windows."""

from guides.painter.canvas import Color, bend, mix
from guides.painter.scene import WIDTH, Scene


def blocks(
    scene: Scene, base: float, low: float, high: float, color: Color, lit: float = 0.3
) -> None:
    """Houses shoulder to shoulder, some of their windows lit."""
    canvas, colors = scene.canvas, scene.colors
    x = -10.0
    lamp = mix(
        color, colors.lamp, 0.75 if colors.moon or colors.name in ("dusk", "sunset") else 0.3
    )
    while x < WIDTH:
        wide, tall = scene.between(34, 84), scene.between(low, high)
        top = base - tall
        canvas.box(x, top, x + wide, base, color)
        canvas.box(x + wide * 0.66, top, x + wide, base, mix(color, colors.ink, 0.14))
        kind = scene.chance.randint(0, 5)
        if kind == 0:
            canvas.shape([(x, top), (x + wide / 2, top - wide * 0.5), (x + wide, top)], color)
        elif kind == 1:
            canvas.box(x + wide * 0.25, top - 18, x + wide * 0.75, top, color)
            canvas.box(x + wide * 0.48, top - 52, x + wide * 0.52, top, color)
        for wy in range(int(top) + 12, int(base) - 8, 15):
            for wx in range(int(x) + 7, int(x + wide) - 8, 13):
                if scene.maybe(lit):
                    canvas.box(wx, wy, wx + 5, wy + 7, lamp)
        x += wide + scene.between(0, 4)


def gables(scene: Scene, base: float, size: float) -> None:
    """Gabled houses along the whole width."""
    canvas, colors = scene.canvas, scene.colors
    x = -30.0
    tints = (
        colors.wall,
        mix(colors.wall, colors.accent, 0.35),
        mix(colors.wall, colors.lamp, 0.5),
        mix(colors.wall, colors.water, 0.35),
    )
    while x < WIDTH + 20:
        wide, high = size * scene.between(0.9, 1.4), size * scene.between(0.7, 1.25)
        wall = mix(scene.chance.choice(tints), colors.ink, 0.12)
        canvas.box(x, base - high, x + wide, base + 90, wall)
        canvas.shape(
            [
                (x - 6, base - high),
                (x + wide / 2, base - high - wide * 0.55),
                (x + wide + 6, base - high),
            ],
            mix(colors.accent, colors.roof, scene.between(0.35, 0.75)),
        )
        glass = (
            colors.lamp
            if colors.moon or colors.name in ("dusk", "sunset")
            else mix(wall, colors.ink, 0.5)
        )
        for floor in range(2):
            for column in (0.26, 0.62):
                left = x + wide * column
                top = base - high * (0.78 - 0.5 * floor)
                canvas.box(left, top, left + wide * 0.15, top + high * 0.26, glass)
        x += wide + scene.between(-4, 8)


def lancet(scene: Scene, x: float, base: float, half: float, high: float) -> None:
    colors = scene.colors
    glass = (
        colors.lamp
        if colors.moon or colors.name in ("dusk", "sunset")
        else mix(colors.shade, colors.ink, 0.55)
    )
    left = bend((x - half, base - high * 0.6), (x - half, base - high * 0.85), (x, base - high))
    right = [(2 * x - px, y) for px, y in reversed(left)]
    scene.canvas.shape([(x - half, base), *left, *right, (x + half, base)], glass)
