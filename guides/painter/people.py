"""People, seen from behind: they give a place its size."""

from guides.painter.canvas import mix
from guides.painter.scene import Scene


def crowd(scene: Scene, count: int, y: float, high: float, left: float, right: float) -> None:
    """A few people standing on y, spread between left and right."""
    colors = scene.colors
    for index in range(count):
        x = left + (right - left) * (index + scene.between(0.2, 0.8)) / count
        tall = high * scene.between(0.86, 1.05)
        coat = scene.chance.choice(
            (colors.accent, colors.roof, colors.leaf, colors.wall, colors.water)
        )
        person(
            scene,
            x,
            y + scene.between(0, high * 0.12),
            tall,
            index % 3 == 2,
            mix(coat, colors.ink, 0.3),
        )


def person(
    scene: Scene, x: float, y: float, high: float, umbrella: bool, coat: tuple[int, int, int]
) -> None:
    canvas, colors = scene.canvas, scene.colors
    w = high * 0.13
    canvas.box(x - w * 0.6, y - high * 0.3, x - w * 0.1, y, colors.ink)
    canvas.box(x + w * 0.1, y - high * 0.3, x + w * 0.6, y, colors.ink)
    canvas.shape(
        [
            (x - w * 0.75, y - high * 0.8),
            (x + w * 0.75, y - high * 0.8),
            (x + w * 1.15, y - high * 0.22),
            (x - w * 1.15, y - high * 0.22),
        ],
        coat,
    )
    canvas.disc(x, y - high * 0.8, w * 0.75, coat, w * 0.5)
    canvas.disc(x, y - high * 0.92, high * 0.075, mix(colors.ink, colors.roof, 0.3))
    if umbrella:
        canvas.line(
            [(x + w, y - high * 0.5), (x + w * 0.7, y - high * 1.15)], colors.ink, high * 0.015
        )
        cx, cy, r = x + w * 0.7, y - high * 1.0, high * 0.34
        canvas.shape(
            [
                (cx - r, cy),
                (cx - r * 0.6, cy - r * 0.45),
                (cx, cy - r * 0.62),
                (cx + r * 0.6, cy - r * 0.45),
                (cx + r, cy),
            ],
            colors.accent,
        )
