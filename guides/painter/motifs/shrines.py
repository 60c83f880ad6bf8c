"""Shrines, temples and pagodas."""

from guides.painter.canvas import Color, Point, bend, mix
from guides.painter.eaves import roof, stone_lantern, storey, torii
from guides.painter.land import ground, hills, water
from guides.painter.people import crowd
from guides.painter.scene import BOTTOM, WIDTH, Scene
from guides.painter.trees import broadleaf, bushes, firs, matsu


def shrine(scene: Scene) -> None:
    """A great gate in the sea, or gate behind gate up the hill."""
    if scene.says("inari", "稲荷", "gates", "千本"):
        _gates(scene)
        return
    hills(scene, 560, 210, 3, 0.62)
    size = scene.between(380, 430)
    middle = scene.between(450, 574)
    line = 596
    scene.canvas.veil(line - 60, line, scene.colors.haze, 0, 0.5)
    torii(scene, middle, line + 14, size, scene.colors.accent)
    water(scene, line + 14, BOTTOM, 0.6)


def _gates(scene: Scene) -> None:
    colors, canvas = scene.colors, scene.canvas
    hills(scene, 560, 240, 2, 0.5)
    firs(scene, 600, 300, mix(colors.distant(0.6), colors.leaf, 0.3), 40)
    firs(scene, 640, 250, mix(colors.distant(0.85), colors.leaf, 0.3), 46)
    ground(scene, 600, 0.9, 0.4)
    vx, vy = 512 + scene.side() * scene.between(20, 60), 560.0
    path = [(vx - 18, vy), (vx + 18, vy), (720, BOTTOM), (304, BOTTOM)]
    canvas.shaded(path, mix(colors.wall, colors.haze, 0.5), colors.shade)
    for step in range(12):
        share = ((step + 1) / 12) ** 1.7
        y = vy + (BOTTOM - vy) * share
        x = vx + (512 - vx) * share
        canvas.line(
            [(x - 18 - 190 * share, y), (x + 18 + 190 * share, y)],
            mix(colors.shade, colors.ink, 0.25),
            1 + 2 * share,
        )
    for gate in range(7):
        share = (gate / 6) ** 1.9
        y = vy + 6 + 218 * share
        x = vx + (512 - vx) * share
        torii(scene, x, y, 96 + 520 * share, scene.dim(colors.accent, 0.62 + 0.38 * gate / 6))
    for side in (-1, 1):
        stone_lantern(scene, 512 + side * 400, BOTTOM - 8, 210)
    bushes(scene, BOTTOM + 6, 30, mix(colors.leaf, colors.ink, 0.45), -20, 230)
    bushes(scene, BOTTOM + 6, 30, mix(colors.leaf, colors.ink, 0.45), 800, WIDTH + 20)


def temple(scene: Scene) -> None:
    """A pavilion over its pond, or a great hall behind steps."""
    if scene.says("kinkaku", "ginkaku", "金閣", "銀閣", "golden", "pond", "池", "lake"):
        _pavilion(scene)
    else:
        _hall(scene)


def _pavilion(scene: Scene) -> None:
    colors, canvas = scene.colors, scene.canvas
    golden = scene.says("kinkaku", "金閣", "gold")
    wall = mix(colors.lamp, (224, 160, 48), 0.55) if golden else colors.wall
    side = scene.side()
    cx, base = 512 + side * scene.between(40, 90), 610.0
    hills(scene, 570, 250, 3, 0.6)
    bushes(scene, 600, 62, mix(colors.distant(0.7), colors.leaf, 0.4))
    bushes(scene, 612, 34, mix(colors.distant(0.8), colors.leaf, 0.6))
    canvas.box(0, base, WIDTH, base + 14, mix(colors.shade, colors.leaf, 0.4))
    dark = mix(colors.roof, colors.ink, 0.2)
    storey(scene, cx, base + 4, 176, 88, mix(colors.wall, wall, 0.25), 7)
    roof(scene, cx, base - 76, 228, 46, 120, dark, 18)
    storey(scene, cx, base - 108, 156, 80, wall, 7)
    roof(scene, cx, base - 180, 212, 60, 76, dark, 18)
    storey(scene, cx, base - 226, 92, 66, wall, 5)
    roof(scene, cx, base - 284, 148, 76, 8, dark, 18)
    _phoenix(scene, cx, base - 358, wall)
    matsu(scene, cx - side * 370, base + 8, 320, side)
    water(scene, base + 14, BOTTOM, 0.66)
    for dx, w in ((-300, 90), (-210, 46), (250, 58)):
        canvas.disc(cx + dx * side, base + 74, w, mix(colors.land, colors.ink, 0.3), w * 0.22)
        canvas.disc(cx + dx * side, base + 66, w * 0.9, mix(colors.leaf, colors.land, 0.4), w * 0.2)
    matsu(scene, cx - side * 300, base + 66, 150, -side)


def _phoenix(scene: Scene, x: float, y: float, color: Color) -> None:
    canvas = scene.canvas
    canvas.box(x - 2, y - 14, x + 2, y + 6, color)
    canvas.shape(
        [
            (x - 20, y - 34),
            (x - 4, y - 22),
            (x + 4, y - 36),
            (x + 12, y - 32),
            (x + 5, y - 26),
            (x + 3, y - 12),
            (x - 5, y - 12),
        ],
        color,
    )


def _hall(scene: Scene) -> None:
    colors, canvas = scene.colors, scene.canvas
    hills(scene, 560, 260, 3, 0.6)
    bushes(scene, 590, 66, mix(colors.distant(0.75), colors.leaf, 0.4))
    ground(scene, 600, 0.7, 0.3)
    cx, base = 512.0, 610.0
    stone = mix(colors.wall, colors.shade, 0.4)
    storey(scene, cx, base, 300, 130, mix(colors.wall, colors.accent, 0.25), 9)
    roof(scene, cx, base - 118, 400, 150, 170, mix(colors.roof, colors.ink, 0.1), 34)
    gable: list[Point] = [
        (cx - 120, base - 196),
        *bend((cx - 120, base - 196), (cx - 40, base - 220), (cx, base - 306)),
        *bend((cx, base - 306), (cx + 40, base - 220), (cx + 120, base - 196)),
    ]
    canvas.shape(gable, mix(colors.roof, colors.ink, 0.35))
    canvas.shape([(cx - 64, base - 204), (cx, base - 268), (cx + 64, base - 204)], colors.wall)
    canvas.disc(cx, base - 224, 9, colors.accent)
    for step in range(5):
        canvas.box(
            cx - 110 - 14 * step,
            base + 13 * step,
            cx + 110 + 14 * step,
            base + 13 * (step + 1),
            mix(stone, colors.ink, 0.09 * step),
        )
    canvas.shaded(
        [(cx - 160, base + 65), (cx + 160, base + 65), (cx + 300, BOTTOM), (cx - 300, BOTTOM)],
        stone,
        mix(stone, colors.ink, 0.2),
    )
    for side in (-1, 1):
        stone_lantern(scene, cx + side * 300, base + 130, 150)
        broadleaf(scene, cx + side * 470, base + 110, 330)
    crowd(scene, 4, base + 100, 46, 400, 620)


def pagoda(scene: Scene) -> None:
    """Five roofs and a spire above the trees."""
    colors, canvas = scene.colors, scene.canvas
    side = scene.side()
    cx, base = 512 + side * scene.between(60, 150), 680.0
    hills(scene, 570, 240, 4, 0.6)
    bushes(scene, 640, 70, mix(colors.distant(0.75), colors.leaf, 0.4))
    wall = mix(colors.accent, colors.wall, 0.12 if scene.maybe(0.6) else 0.7)
    y, half = base, 104.0
    for tier in range(5):
        storey(scene, cx, y, half * 0.74, 62, wall, 5)
        roof(scene, cx, y - 53, half * 1.72, 46, half * 0.5, mix(colors.roof, colors.ink, 0.1), 16)
        y -= 90 - tier * 2
        half *= 0.91
    canvas.shape(
        [(cx - 44, y + 52), (cx, y + 12), (cx + 44, y + 52)], mix(colors.roof, colors.ink, 0.1)
    )
    canvas.box(cx - 2, y - 70, cx + 2, y + 40, colors.ink)
    for ring in range(7):
        canvas.pill(cx, y - 44 + ring * 9, 14 + ring * 1.4, 4, colors.ink)
    canvas.disc(cx, y - 68, 4, colors.ink)
    ground(scene, 680, 0.85, 0.5)
    for x, high in ((cx - side * 270, 270), (cx - side * 420, 340), (cx + side * 300, 230)):
        broadleaf(scene, x, 730, high)
    bushes(scene, 786, 34, mix(colors.bloom or colors.leaf, colors.ink, 0.2))
    bushes(scene, 808, 38, mix(colors.leaf, colors.ink, 0.55))
