"""Castles: white keeps in Japan, round towers elsewhere."""

from guides.painter.canvas import Color, bend, mix
from guides.painter.eaves import roof
from guides.painter.houses import lancet
from guides.painter.land import fill_below, ground, hills
from guides.painter.scene import Scene
from guides.painter.trees import broadleaf, bushes, firs


def castle(scene: Scene) -> None:
    """A white keep on a curved wall of stone."""
    colors, canvas = scene.colors, scene.canvas
    side = scene.side()
    cx, base = 512 + side * scene.between(0, 70), 560.0
    hills(scene, 580, 190, 3, 0.5)
    bushes(scene, 650, 80, mix(colors.distant(0.6), colors.leaf, 0.35))
    _rampart(scene, cx - side * 250, 560, 150, 130)
    _keep(scene, cx - side * 250, 562, ((96, 58), (66, 50)))
    _rampart(scene, cx, base, 210, 150)
    _keep(scene, cx, base + 2, ((176, 80), (146, 72), (112, 62), (80, 56)))
    ground(scene, 690, 0.85, 0.6)
    for x in (60, 190, 330, 700, 840, 970):
        broadleaf(scene, x + scene.between(-20, 20), 780, scene.between(170, 230))
    bushes(scene, 806, 46, mix(colors.leaf, colors.ink, 0.5))
    canvas.veil(700, 800, colors.ink, 0, 0.25)


def _rampart(scene: Scene, cx: float, top: float, half: float, high: float) -> None:
    colors, canvas = scene.colors, scene.canvas
    stone = mix(colors.shade, colors.land, 0.3)
    left = bend((cx - half, top), (cx - half - 14, top + high * 0.6), (cx - half - 64, top + high))
    right = [(2 * cx - x, y) for x, y in left]
    canvas.shaded([*left, *reversed(right)], stone, mix(stone, colors.ink, 0.35))
    for row in range(1, 8):
        y = top + high * row / 8
        x = cx - half + scene.between(-4, 16)
        while x < cx + half:
            long = scene.between(16, 34)
            tone = mix(stone, colors.ink if scene.maybe(0.6) else colors.cloud, 0.12)
            canvas.pill(x, y, long, high * 0.075, tone)
            x += long + scene.between(6, 24)


def _keep(scene: Scene, cx: float, y: float, tiers: tuple[tuple[float, float], ...]) -> None:
    colors, canvas = scene.colors, scene.canvas
    tile = mix(colors.roof, colors.ink, 0.05)
    for level, (half, high) in enumerate(tiers):
        last = level == len(tiers) - 1
        canvas.box(cx - half, y - high, cx + half, y, colors.wall)
        canvas.box(cx + half * 0.5, y - high, cx + half, y, colors.shade)
        windows = max(2, int(half / 26))
        for window in range(windows):
            x = cx - half + 2 * half * (window + 0.5) / windows
            canvas.box(
                x - 5, y - high * 0.5, x + 5, y - high * 0.22, colors.lamp if colors.moon else tile
            )
        canvas.box(cx - half, y - high, cx + half, y - high * 0.78, colors.shade)
        rise = 62 if last else 36
        roof(
            scene,
            cx,
            y - high + 6,
            half * 1.22 + 10,
            rise,
            half * (0.52 if last else 0.82),
            tile,
            12,
        )
        if not last and level % 2 == 0:
            _gable(scene, cx, y - high + 2, half * 0.5, tile)
        y -= high + (22 if not last else 0)
    for end in (-1, 1):  # the fish on the ridge
        x = cx + end * tiers[-1][0] * 0.52
        top = y - 56
        canvas.shape(
            [(x - 5, top), (x + 5, top), (x + end * 9, top - 18), (x, top - 10)], colors.ink
        )


def _gable(scene: Scene, cx: float, y: float, half: float, tile: Color) -> None:
    left = bend((cx - half, y), (cx - half * 0.35, y - half * 0.3), (cx, y - half * 0.92))
    right = [(2 * cx - x, py) for x, py in reversed(left)]
    scene.canvas.shape([*left, *right], mix(tile, scene.colors.ink, 0.25))
    scene.canvas.shape(
        [
            (cx - half * 0.52, y - half * 0.1),
            (cx, y - half * 0.62),
            (cx + half * 0.52, y - half * 0.1),
        ],
        scene.colors.wall,
    )


def fortress(scene: Scene) -> None:
    """Round towers and pointed roofs on a hill."""
    colors, canvas = scene.colors, scene.canvas
    hills(scene, 560, 260, 4, 0.5)
    side = scene.side()
    cx = 512 + side * scene.between(0, 70)
    hill = mix(colors.distant(0.75), colors.leaf, 0.4)
    edge = [
        *bend((cx - 620, 760), (cx - 260, 550), (cx - 170, 550)),
        *bend((cx + 190, 550), (cx + 280, 530), (cx + 640, 740)),
    ]
    fill_below(scene, edge, hill, mix(hill, colors.ink, 0.4))
    wall = colors.wall
    canvas.box(cx - 170, 470, cx + 190, 560, wall)
    canvas.box(cx + 60, 470, cx + 190, 560, colors.shade)
    for tooth in range(-170, 186, 24):
        canvas.box(cx + tooth, 458, cx + tooth + 13, 472, wall if tooth < 60 else colors.shade)
    for dx, half, top in (
        (-90, 28, 360),
        (70, 46, 350),
        (150, 24, 420),
        (-20, 34, 300),
        (-170, 30, 440),
        (190, 32, 450),
    ):
        _turret(scene, cx + dx * side, 570, half, top)
    lancet(scene, cx, 562, 20, 60)
    firs(scene, 640, 90, mix(hill, colors.ink, 0.25), 30)
    bushes(scene, 700, 54, mix(colors.bloom or colors.leaf, colors.land, 0.35))
    firs(scene, 800, 130, mix(colors.leaf, colors.ink, 0.55), 38)


def _turret(scene: Scene, x: float, base: float, half: float, top: float) -> None:
    canvas, colors = scene.canvas, scene.colors
    canvas.box(x - half, top, x + half, base, colors.wall)
    canvas.box(x + half * 0.2, top, x + half, base, colors.shade)
    canvas.box(x - half - 5, top - 4, x + half + 5, top + 12, mix(colors.wall, colors.shade, 0.6))
    tile = mix(colors.roof, colors.water, 0.3)
    tip = top - half * 2.9
    canvas.shape(
        [(x - half - 8, top - 2), (x, tip), (x + half * 0.25, top - 2)],
        mix(tile, colors.cloud, 0.14),
    )
    canvas.shape([(x + half * 0.25, top - 2), (x, tip), (x + half + 8, top - 2)], tile)
    canvas.line([(x, tip), (x, tip - 26)], colors.ink, 2)
    canvas.shape([(x, tip - 26), (x + 22, tip - 20), (x, tip - 13)], colors.accent)
    for y in (top + 46, top + 96):
        lancet(scene, x - half * 0.25, y, half * 0.18, half * 0.8)
