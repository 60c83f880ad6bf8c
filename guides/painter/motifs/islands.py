"""A white village above the sea."""

from guides.painter.boats import sailboat
from guides.painter.canvas import Color, Point, arc, bend, mix
from guides.painter.land import fill_below, ridge, water
from guides.painter.scene import BOTTOM, Scene
from guides.painter.trees import bushes, cypress


def village(scene: Scene) -> None:
    """White houses and blue domes above the sea."""
    colors, canvas = scene.colors, scene.canvas
    side = scene.side()
    line = 470.0
    edge = ridge(scene, line, 110, 0.4)
    low = [(x, line - (line - y) * max(0.0, 0.3 + (x - 512) * side / 700)) for x, y in edge]
    fill_below(scene, low, colors.distant(0.4), colors.distant(0.25), line + 8)
    water(scene, line, BOTTOM, 0.35)
    sailboat(scene, 512 + side * 300, 560, 70)
    cliff = mix(colors.distant(0.85), colors.roof, 0.3)
    x0, x1 = 512 - side * 530, 512 + side * 420
    slope = bend((x0, 290), (512 - side * 40, 340), (x1, BOTTOM + 40), 40)
    canvas.shaded([*slope, (x0, BOTTOM)], cliff, mix(cliff, colors.ink, 0.4))
    blue = (
        mix(colors.water, (36, 92, 168), 0.6)
        if not colors.moon
        else mix(colors.water, colors.sky[1], 0.3)
    )
    for row in range(7):
        y = 372 + 78 * row
        size = 62 + 7 * row
        edge_x = _on_slope(slope, y)
        x = x0 + side * scene.between(-10, 30)
        houses = []
        while (x - edge_x) * side < -size * 0.2:
            houses.append(x)
            x += side * size * scene.between(0.86, 1.12)
        for index, place in enumerate(houses):
            lift = scene.between(-22, 16)
            dome = (index * 3 + row * 2) % 5 == 0
            _white_house(scene, place, y + lift, size * scene.between(0.9, 1.15), blue, dome)
        stairs = mix(colors.shade, colors.wall, 0.4)
        left, right = sorted((x0, edge_x - side * 10))
        canvas.box(left, y + 34, right, y + 40, stairs)
    for x in (x0 + side * 90, x0 + side * 330):
        cypress(scene, x, BOTTOM + 10, 130, mix(colors.leaf, colors.ink, 0.35))
    flowers = mix(colors.bloom or (206, 70, 120), colors.leaf, 0.1)
    bushes(scene, BOTTOM + 4, 26, flowers, *sorted((x0, x0 + side * 250)))


def _on_slope(slope: list[Point], y: float) -> float:
    return min(slope, key=lambda p: abs(p[1] - y))[0]


def _white_house(scene: Scene, x: float, base: float, size: float, blue: Color, dome: bool) -> None:
    colors, canvas = scene.colors, scene.canvas
    white = mix(colors.wall, (255, 255, 255), 0.4 if not colors.moon else 0)
    white = mix(white, colors.sky[-1], scene.between(0, 0.3))
    shade = mix(white, colors.water, 0.36)
    high, half = size * scene.between(0.7, 1.0), size / 2
    top = base - high
    canvas.box(x - half, top, x + half, base + 90, white)
    canvas.box(x + half * 0.4, top, x + half, base + 90, shade)
    if dome:
        canvas.box(x - half * 0.76, top - size * 0.14, x + half * 0.76, top, white)
        canvas.box(x + half * 0.34, top - size * 0.14, x + half * 0.76, top, shade)
        middle, reach, rise = top - size * 0.12, half * 0.76, size * 0.46
        canvas.shape(arc(x, middle, reach, rise), blue)
        canvas.shape(
            [*arc(x, middle, reach, rise, 285, 360), (x + reach * 0.4, middle)],
            mix(blue, colors.ink, 0.3),
        )
        canvas.box(x - 1.5, middle - rise - 18, x + 1.5, middle - rise, white)
        canvas.box(x - 6, middle - rise - 13, x + 6, middle - rise - 10, white)
    elif scene.maybe(0.4):
        canvas.shape(arc(x - half * 0.3, top + 1, half * 0.7, size * 0.2), white)
    else:
        canvas.box(x - half - 2, top - 4, x + half + 2, top + 3, mix(white, shade, 0.5))
    glass = colors.lamp if colors.moon else mix(blue, colors.ink, 0.15)
    for dx in (-0.62, 0.1):
        canvas.box(
            x + half * dx, base - high * 0.62, x + half * (dx + 0.3), base - high * 0.3, glass
        )
        canvas.disc(x + half * (dx + 0.15), base - high * 0.62, half * 0.15, glass)
