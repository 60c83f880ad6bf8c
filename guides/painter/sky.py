"""The sky: gradient, sun or moon with its glow, clouds or stars."""

import math

from guides.painter.canvas import SIZE, Canvas, Color, gradient, mix
from guides.painter.scene import HORIZON, WIDTH, Scene


def paint_sky(scene: Scene, orb: tuple[float, float], radius: float) -> None:
    """Fill the canvas with sky and put sun or moon at `orb`."""
    canvas, colors = scene.canvas, scene.colors
    fine = canvas.image.width // SIZE
    low = round((HORIZON + canvas.shift) * fine)
    canvas.image.paste(gradient(colors.sky, (canvas.image.width, low)), (0, 0))
    canvas.box(0, HORIZON, WIDTH, SIZE, colors.haze)
    if colors.moon:
        _stars(scene)
    scene.orb = orb
    _orb(scene, *orb, radius)
    if not colors.moon or scene.maybe(0.5):
        _clouds(scene)
    canvas.veil(HORIZON - 190, HORIZON, colors.haze, 0.0, 0.75)


def _orb(scene: Scene, x: float, y: float, radius: float) -> None:
    canvas, colors = scene.canvas, scene.colors
    strong = colors.name in ("mint", "woodblock")  # a flat disc, as on woodcuts
    canvas.glow(x, y, radius * 5, colors.orb if not strong else colors.haze, 0.55)
    if not strong:
        canvas.glow(x, y, radius * 2.1, colors.orb, 0.75)
    canvas.disc(x, y, radius, colors.orb)
    if colors.moon:
        spot = mix(colors.orb, colors.sky[2], 0.16)
        for dx, dy, size in ((-0.3, -0.2, 0.24), (0.25, 0.3, 0.3), (0.3, -0.35, 0.14)):
            canvas.disc(x + dx * radius, y + dy * radius, size * radius, spot)


def _stars(scene: Scene) -> None:
    for _ in range(130):
        x, y = scene.between(0, WIDTH), scene.between(-180, 400)
        size = 0.5 + 1.3 * scene.between(0, 1) ** 3
        color = mix(scene.sky_at(y), scene.colors.orb, scene.between(0.3, 0.95) * (1 - y / 700))
        scene.canvas.disc(x, y, size, color)


def _clouds(scene: Scene) -> None:
    paint = _bars if scene.maybe(0.55) else _heaps
    paint(scene)


def _clear_of_orb(scene: Scene, top: float, bottom: float) -> tuple[float, float]:
    """A place for a cloud that does not cover the sun or moon."""
    x, y = scene.between(60, WIDTH - 60), scene.between(top, bottom)
    if abs(x - scene.orb[0]) < 240 and abs(y - scene.orb[1]) < 110:
        y = scene.orb[1] + (130 if scene.orb[1] < 260 else -130)
    return x, y


def _tint(scene: Scene, y: float, strength: float) -> Color:
    return mix(scene.sky_at(y), scene.colors.cloud, strength)


def _bars(scene: Scene) -> None:
    """Long flat clouds, each a pile of rounded bars."""
    for _ in range(scene.chance.randint(3, 5)):
        x, y = _clear_of_orb(scene, 40, 380)
        long, high = scene.between(150, 330), scene.between(9, 15)
        for row in range(scene.chance.randint(2, 4)):
            color = _tint(scene, y + row * high, 0.5 - 0.07 * row)
            reach = long * scene.between(0.45, 1.0)
            scene.canvas.pill(
                x + scene.between(-0.3, 0.3) * long, y + row * high * 0.98, reach, high, color
            )


def _heaps(scene: Scene) -> None:
    """Fair-weather clouds: round above, flat below."""
    for _ in range(scene.chance.randint(2, 4)):
        (x, y), size = _clear_of_orb(scene, 130, 390), scene.between(0.6, 1.2)
        _heap(scene.canvas, x, y, size, _tint(scene, y, 0.42), scene.chance.randint(4, 6))
        _heap(
            scene.canvas, x + 26 * size, y + 1, size * 0.72, _tint(scene, y, 0.68),
            scene.chance.randint(3, 5),
        )  # fmt: skip


def _heap(canvas: Canvas, x: float, y: float, size: float, color: Color, lumps: int) -> None:
    long = 46 * lumps * size
    points = [(x - long / 2, y)]
    for lump in range(lumps):
        middle = math.sin(math.pi * (lump + 0.5) / lumps)
        cx = x - long / 2 + long * (lump + 0.5) / lumps
        reach = long / lumps * 0.62
        for step in range(13):
            angle = math.pi * (1 + step / 12)
            points.append(
                (
                    cx + reach * math.cos(angle),
                    y - 26 * size * middle + reach * (0.5 + middle * 0.6) * math.sin(angle),
                )
            )
    points.append((x + long / 2, y))
    canvas.shape(points, color)
