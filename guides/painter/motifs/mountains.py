"""Mountains and lakes."""

from guides.painter.boats import sailboat
from guides.painter.canvas import Point, bend, mix
from guides.painter.eaves import torii
from guides.painter.land import ground, hills, roughen, water
from guides.painter.scene import BOTTOM, WIDTH, Scene
from guides.painter.trees import bushes, fir, firs


def mountain(scene: Scene) -> None:
    """A white cone over water, or a wall of peaks."""
    colors = scene.colors
    if (
        scene.says("fuji", "富士")
        or (scene.japan and scene.maybe(0.6))
        or scene.says("volcan", "火山")
    ):
        _cone(scene, 512 + scene.side() * scene.between(0, 90), 130, 560)
        _mist_bands(scene, 400, 500)
        hills(scene, 566, 90, 2, 0.62)
        firs(scene, 590, 62, mix(colors.distant(0.9), colors.leaf, 0.2), 20)
    else:
        _range(scene)
        hills(scene, 580, 110, 2, 0.7)
        firs(scene, 596, 96, mix(colors.distant(0.95), colors.leaf, 0.15), 24)
    if scene.maybe(0.65):
        water(scene, 592, BOTTOM, 0.68)
        if scene.maybe(0.6):
            sailboat(scene, 512 + scene.side() * 230, 660, 90)
    else:
        ground(scene, 600, 0.8, 0.7)
    for side, count in ((-1, 3), (1, 2)):
        for tree in range(count):
            x = 512 + side * (500 - tree * 62)
            fir(scene, x, BOTTOM + 10, 300 - 66 * tree, mix(colors.ink, colors.leaf, 0.22))


def lake(scene: Scene) -> None:
    """Water between mountains, and a boat; in Japan a gate stands in it."""
    colors = scene.colors
    side = scene.side()
    if scene.japan and scene.maybe(0.7):
        _cone(scene, 512 + side * 170, 210, 540)
        _mist_bands(scene, 420, 490)
    else:
        _range(scene)
    hills(scene, 572, 150, 2, 0.6)
    firs(scene, 584, 54, mix(colors.distant(0.85), colors.leaf, 0.25), 18)
    if scene.japan:
        torii(scene, 512 - side * 240, 612, 180, colors.accent)
    water(scene, 580, BOTTOM, 0.68)
    if scene.japan:
        torii(scene, 512 - side * 240, 612, 180, colors.accent)
    sailboat(scene, 512 + side * 200, 690, 150)
    bushes(scene, BOTTOM + 14, 40, mix(colors.leaf, colors.ink, 0.5), -20, 300 if side < 0 else 120)
    bushes(
        scene,
        BOTTOM + 14,
        40,
        mix(colors.leaf, colors.ink, 0.5),
        900 if side < 0 else 720,
        WIDTH + 20,
    )


def _cone(scene: Scene, cx: float, top: float, base: float) -> None:
    """Fuji: long slopes, a small crater, snow that runs down in tongues."""
    colors, canvas = scene.colors, scene.canvas
    high = base - top
    half = high * 1.28
    crater = 44
    left = bend((cx - crater, top), (cx - high * 0.42, top + high * 0.66), (cx - half, base), 30)
    right = [(2 * cx - x, y) for x, y in left]
    body = colors.distant(0.58)
    rim: list[Point] = [
        (cx - 22, top + 5),
        (cx - 8, top + 1),
        (cx + 10, top + 7),
        (cx + 26, top + 2),
    ]
    canvas.shaded([*reversed(left), *rim, *right], body, mix(body, colors.haze, 0.7))
    shadow = mix(body, colors.ink, 0.2)
    fold = bend(
        (cx + 12, top + 6), (cx + high * 0.2, top + high * 0.6), (cx + high * 0.5, base), 20
    )
    canvas.shaded([*fold, *reversed(right)], shadow, mix(body, colors.haze, 0.62))
    snow = mix(colors.cloud, (255, 255, 255), 0.55)
    tongues: list[Point] = []
    count = 13
    for tongue in range(count + 1):
        share = tongue / count
        depth = high * (0.2 + (0.2 if tongue % 2 else 0.0) * scene.between(0.6, 1.2))
        y = top + depth
        reach = _slope(left, cx, y)
        tongues.append((cx - reach + 2 * reach * share, y))
    edge_left = [p for p in left if p[1] < tongues[0][1]]
    edge_right = [p for p in right if p[1] < tongues[-1][1]]
    canvas.shape([*reversed(edge_left), *rim, *edge_right, *reversed(tongues)], snow)
    cool = mix(snow, body, 0.3)
    lit = [t for t in tongues if t[0] > cx + 16]
    canvas.shape([(cx + 12, top + 6), *rim[3:], *edge_right, *reversed(lit)], cool)


def _slope(left: list[Point], cx: float, y: float) -> float:
    return cx - min(left, key=lambda p: abs(p[1] - y))[0]


def _range(scene: Scene) -> None:
    """A great peak among lesser ones, each with a lit and a shaded side."""
    side = scene.side()
    middle = 512 + side * scene.between(0, 110)
    for dx, top, half, near in (
        (-420, 330, 250, 0.2), (430, 300, 270, 0.24), (-220, 270, 260, 0.34), (250, 250, 270, 0.38),
        (0, 165, 340, 0.52), (-400, 400, 230, 0.58), (380, 390, 250, 0.6),
    ):  # fmt: skip
        _peak(scene, middle + side * dx, top + scene.between(-15, 25), 600, half, near)
    scene.canvas.veil(440, 600, scene.colors.haze, 0, 0.7)


def _peak(scene: Scene, x: float, top: float, base: float, half: float, near: float) -> None:
    canvas, colors = scene.canvas, scene.colors
    high = base - top
    left = roughen(
        scene, [(x - half, base), (x - half * 0.42, top + high * 0.5), (x, top)], high * 0.05
    )
    right = roughen(
        scene, [(x, top), (x + half * 0.36, top + high * 0.44), (x + half, base)], high * 0.05
    )
    spine = roughen(
        scene,
        [
            (x, top),
            (x + half * 0.12, top + high * 0.3),
            (x - half * 0.02, top + high * 0.6),
            (x + half * 0.2, base),
        ],
        high * 0.07,
    )
    lit = colors.distant(near)
    dark = mix(lit, colors.ink, 0.24)
    canvas.shaded([*left, *right], lit, mix(lit, colors.haze, 0.5))
    canvas.shaded([*spine, *reversed(right)], dark, mix(dark, colors.haze, 0.5))
    snow = mix(mix(colors.cloud, (255, 255, 255), 0.6), colors.haze, 0.5 - 0.7 * near)
    line = top + high * (0.36 if near > 0.3 else 0.26)
    on_left, on_right, on_spine = (
        [p for p in edge if p[1] < line] for edge in (left, right, spine)
    )
    if len(on_left) > 1 and len(on_right) > 1 and on_spine:
        tongues = _tongues(scene, on_left[0], on_spine[-1], high)
        canvas.shape([*on_left, *on_spine, *reversed(tongues)], snow)
        tongues = _tongues(scene, on_spine[-1], on_right[-1], high)
        canvas.shape([*reversed(on_spine), *on_right, *reversed(tongues)], mix(snow, dark, 0.4))


def _tongues(scene: Scene, start: Point, end: Point, high: float) -> list[Point]:
    """The ragged lower edge of snow between two points."""
    points = [start]
    for step in range(1, 6):
        t = step / 6
        drop = high * (0.1 if step % 2 else -0.03) * scene.between(0.6, 1.3)
        points.append(
            (start[0] + (end[0] - start[0]) * t, start[1] + (end[1] - start[1]) * t + drop)
        )
    return [*points, end]


def _mist_bands(scene: Scene, top: float, bottom: float) -> None:
    for _ in range(6):
        y = scene.between(top, bottom)
        color = mix(scene.colors.haze, scene.colors.cloud, scene.between(0.2, 0.6))
        scene.canvas.pill(
            scene.between(60, WIDTH - 60), y, scene.between(200, 420), scene.between(9, 17), color
        )
