"""A bridge over water, a train over a valley."""

from collections.abc import Callable

from guides.painter.canvas import Point, arc, bend, mix
from guides.painter.land import fill_below, hills, ridge, water
from guides.painter.scene import BOTTOM, WIDTH, Scene
from guides.painter.trees import broadleaf, bushes, firs


def bridge(scene: Scene) -> None:
    """A suspension bridge from shore to shore."""
    colors, canvas = scene.colors, scene.canvas
    side = scene.side()
    line = 620.0
    hills(scene, 606, 190, 4, 0.5)
    canvas.soft(
        [[(0, 540), (400, 500), (WIDTH, 545), (WIDTH, 600), (0, 600)]], colors.cloud, 0.5, 26
    )

    def place(u: float, y: float) -> Point:
        """u runs along the deck, away from the viewer; everything shrinks with it."""
        shrink = 1 / (1 + 0.95 * u)
        return 512 - side * (512 + 60) + side * 1180 * u * shrink * 1.45, 560 - (
            560 - y
        ) * shrink * 1.25

    _span(scene, place)
    water(scene, line, BOTTOM, 0.55)
    rock = mix(colors.distant(0.95), colors.ink, 0.3)
    x = 512 - side * 520
    canvas.shape(
        [
            (x, 600),
            (x + side * 90, 640),
            (x + side * 150, 720),
            (x + side * 260, BOTTOM),
            (x, BOTTOM),
        ],
        rock,
    )
    bushes(scene, BOTTOM + 10, 44, mix(colors.leaf, colors.ink, 0.4), *sorted((x, x + side * 250)))


def _span(scene: Scene, place: Callable[[float, float], Point]) -> None:
    canvas, colors = scene.canvas, scene.colors
    red, dark = colors.accent, mix(colors.accent, colors.ink, 0.35)
    deck, head, foot = 520.0, 150.0, 640.0
    towers = (0.26, 1.15)
    spans = ((-0.3, 0.26, deck - 60, head), (0.26, 1.15, head, head), (1.15, 2.2, head, deck))
    for start, end, y0, y1 in spans:
        cable = []
        for i in range(31):
            t = i / 30
            y = (
                y0
                + (y1 - y0) * t
                + (4 * t * (1 - t)) * (deck - 26 - max(y0, y1)) * (0.96 if y0 == y1 else 0.3)
            )
            point = place(start + (end - start) * t, y)
            cable.append(point)
            if i % 2:
                canvas.line(
                    [point, place(start + (end - start) * t, deck)],
                    mix(red, colors.haze, 0.25),
                    1.2,
                )
        canvas.line(cable, red, 4)
    for u in reversed(towers):
        shrink = 1 / (1 + 0.95 * u)
        tone = scene.dim(red, 0.7 + 0.3 * shrink)
        for dx in (-34, 34):
            x = place(u, deck)[0] + dx * shrink
            canvas.shape(
                [
                    (x - 13 * shrink, place(u, head - 16)[1]),
                    (x + 13 * shrink, place(u, head - 16)[1]),
                    (x + 17 * shrink, place(u, foot)[1] + 40 * shrink),
                    (x - 17 * shrink, place(u, foot)[1] + 40 * shrink),
                ],
                tone,
            )
            canvas.shape(
                [
                    (x + 4 * shrink, place(u, head - 16)[1]),
                    (x + 13 * shrink, place(u, head - 16)[1]),
                    (x + 17 * shrink, place(u, foot)[1] + 40 * shrink),
                    (x + 5 * shrink, place(u, foot)[1] + 40 * shrink),
                ],
                mix(tone, colors.ink, 0.3),
            )
        for y in (head, head + 80, head + 170, head + 270, deck + 40):
            x = place(u, y)[0]
            canvas.box(
                x - 38 * shrink, place(u, y)[1], x + 38 * shrink, place(u, y)[1] + 17 * shrink, tone
            )
    top = [place(u / 10, deck) for u in range(-4, 26)]
    low = [place(u / 10, deck + 24) for u in range(-4, 26)]
    canvas.shape([*top, *reversed(low)], dark)
    canvas.line(top, red, 4)


def station(scene: Scene) -> None:
    """A train on a viaduct, mountains behind."""
    colors, canvas = scene.colors, scene.canvas
    hills(scene, 560, 300, 4, 0.55)
    firs(scene, 620, 70, mix(colors.distant(0.75), colors.leaf, 0.3), 26)
    stone, deck = mix(colors.wall, colors.shade, 0.55), 490.0
    fill_below(
        scene,
        ridge(scene, 690, 40, 0.3),
        mix(colors.leaf, colors.land, 0.4),
        mix(colors.leaf, colors.ink, 0.4),
    )
    canvas.box(0, deck, WIDTH, deck + 34, stone)
    canvas.box(0, deck, WIDTH, deck + 8, mix(stone, colors.cloud, 0.3))
    for pier in range(-1, 7):
        x = 60 + pier * 172
        left, right = x + 22, x + 150
        spandrel = arc((left + right) / 2, deck + 110, (right - left) / 2, 84)
        canvas.shape(
            [
                (x - 22, deck + 30),
                (x + 194, deck + 30),
                (x + 194, deck + 112),
                *reversed(spandrel),
                (x - 22, deck + 112),
            ],
            stone,
        )
        canvas.shaded(
            [(x - 22, deck + 100), (x + 22, deck + 100), (x + 28, 720), (x - 28, 720)],
            stone,
            mix(stone, colors.ink, 0.3),
        )
        canvas.shape(
            [(x + 6, deck + 100), (x + 22, deck + 100), (x + 28, 720), (x + 8, 720)],
            mix(stone, colors.ink, 0.25),
        )
    _train(scene, deck, scene.side())
    bushes(scene, 724, 40, mix(colors.leaf, colors.land, 0.25))
    for x in (90, 260, 800, 950):
        broadleaf(scene, x, 790, scene.between(150, 200))
    bushes(scene, 806, 46, mix(colors.leaf, colors.ink, 0.5))


def _train(scene: Scene, deck: float, side: int) -> None:
    canvas, colors = scene.canvas, scene.colors
    body, dark = mix(colors.accent, colors.ink, 0.05), mix(colors.accent, colors.ink, 0.4)
    for car in range(4):
        a, b = (512 + side * (300 - 230 * car - edge) for edge in (0, 222))
        left, right = min(a, b), max(a, b)
        canvas.box(left, deck - 84, right, deck - 10, body)
        canvas.box(left, deck - 34, right, deck - 10, mix(colors.wall, body, 0.1))
        canvas.box(left, deck - 92, right, deck - 82, dark)
        for window in range(6):
            x = left + 16 + window * 34
            canvas.box(x, deck - 72, x + 24, deck - 44, mix(colors.lamp, colors.cloud, 0.3))
        for wheel in (30, 60, 162, 192):
            canvas.disc(left + wheel, deck - 6, 8, colors.ink)
    nose = 512 + side * 300
    canvas.shape(
        [
            (nose, deck - 92),
            *bend((nose, deck - 92), (nose + side * 60, deck - 84), (nose + side * 78, deck - 10)),
            (nose, deck - 10),
        ],
        body,
    )
    canvas.shape(
        [
            (nose + side * 10, deck - 74),
            (nose + side * 38, deck - 72),
            (nose + side * 54, deck - 46),
            (nose + side * 10, deck - 46),
        ],
        mix(colors.lamp, colors.cloud, 0.3),
    )
    canvas.glow(nose + side * 80, deck - 26, 70, colors.lamp, 0.9)
