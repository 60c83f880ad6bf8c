"""The open country: waterfall, forest, field."""

from guides.painter.canvas import Color, Point, bend, mix
from guides.painter.eaves import torii
from guides.painter.land import fill_below, hills, ridge, water
from guides.painter.people import person
from guides.painter.scene import BOTTOM, WIDTH, Scene
from guides.painter.trees import broadleaf, bushes, cypress, fir


def waterfall(scene: Scene) -> None:
    """White water between dark cliffs."""
    colors, canvas = scene.colors, scene.canvas
    hills(scene, 420, 220, 3, 0.5)
    cx = 512 + scene.side() * scene.between(20, 80)
    top, pool, half = 210.0, 650.0, 46.0
    rock = colors.distant(0.82)
    for tone, lift, reach in ((mix(rock, colors.haze, 0.3), 0, 0), (rock, 40, 60)):
        for side in (-1, 1):
            edge: list[Point] = [(cx + side * (half - 30 + reach), top + lift)]
            x, y = edge[0]
            while -40 < x < WIDTH + 40:
                x, y = x + side * scene.between(24, 60), y + scene.between(-34, 26)
                edge.append((x, max(y, 130)))
            wall = (cx + side * (half - 26 + reach * 0.8), pool + 10)
            canvas.shaded([*edge, (edge[-1][0], pool + 20), wall], tone, mix(tone, colors.ink, 0.4))
    _facets(scene, cx, rock, pool)
    white = mix(colors.cloud, (255, 255, 255), 0.6)
    canvas.shaded(
        [
            (cx - half * 0.8, top),
            (cx + half * 0.8, top),
            (cx + half * 1.25, pool),
            (cx - half * 1.25, pool),
        ],
        white,
        mix(white, colors.water, 0.2),
    )
    for _ in range(22):
        t = scene.between(-1, 1)
        y0 = scene.between(top, pool - 160)
        x0, x1 = (cx + t * half * (0.8 + 0.45 * (y - top) / (pool - top)) for y in (y0, y0 + 150))
        canvas.line(
            [(x0, y0), (x1, y0 + scene.between(80, 150))],
            mix(white, colors.water, scene.between(0.3, 0.7)),
            2.4,
        )
    for side in (-1, 1):
        for tree in range(6):
            x = cx + side * (100 + tree * 74 + scene.between(-10, 10))
            fir(
                scene,
                x,
                top + 40 + scene.between(-10, 30),
                scene.between(80, 140),
                mix(colors.leaf, colors.land, 0.6),
            )
    water(scene, pool, BOTTOM, 0.45)
    mist = [
        [
            (cx - 190, pool + 30),
            (cx - 110, pool - 60),
            (cx, pool - 84),
            (cx + 110, pool - 60),
            (cx + 190, pool + 30),
            (cx, pool + 50),
        ]
    ]
    canvas.soft(mist, white, 0.9, 26)
    for x, w in ((cx - 260, 70), (cx - 170, 40), (cx + 230, 84), (cx + 330, 46)):
        canvas.disc(x, pool + 60, w, mix(rock, colors.ink, 0.5), w * 0.42)
        canvas.disc(x - w * 0.15, pool + 52, w * 0.7, mix(rock, colors.ink, 0.25), w * 0.26)
    if scene.japan:
        torii(scene, cx + 330, pool + 62, 130, colors.accent)
    for side in (-1, 1):
        broadleaf(scene, 512 + side * 440, BOTTOM + 30, 290)


def _facets(scene: Scene, cx: float, rock: Color, pool: float) -> None:
    """Upright cracks and ledges in the cliff."""
    for _ in range(54):
        x = cx + scene.side() * scene.between(84, 540)
        y, long = scene.between(290, pool - 90), scene.between(40, 150)
        width = scene.between(5, 16)
        tone = mix(rock, scene.colors.ink, scene.between(0.08, 0.24))
        scene.canvas.shape(
            [
                (x, y),
                (x + width, y + long * 0.2),
                (x + width * 0.8, min(y + long, pool)),
                (x - width * 0.2, min(y + long * 0.9, pool)),
            ],
            tone,
        )


def forest(scene: Scene) -> None:
    """A path between tall trunks, light falling through."""
    colors, canvas = scene.colors, scene.canvas
    bamboo = scene.says("bamboo", "竹")
    light = mix(colors.haze, colors.leaf, 0.25)
    canvas.veil(-200, 620, mix(light, colors.leaf, 0.5), 0.9, 0.4)
    canvas.glow(512, 470, 420, colors.orb, 0.7)
    floor = mix(colors.leaf, colors.land, 0.35)
    fill_below(
        scene, ridge(scene, 610, 10, 0.2), mix(floor, colors.haze, 0.3), mix(floor, colors.ink, 0.4)
    )
    canvas.shaded(
        [
            *bend((500, 606), (560, 660), (330, BOTTOM)),
            *bend((690, BOTTOM), (600, 660), (528, 606)),
        ],
        mix(colors.wall, colors.lamp, 0.2),
        mix(colors.shade, colors.leaf, 0.2),
    )
    for layer, near in enumerate((0.3, 0.5, 0.72, 1.0)):
        gap = 34 + 30 * layer
        for side in (-1, 1):
            x = 512 + side * (26 + 66 * layer * near)
            while -60 < x < WIDTH + 60:
                width = (6 if bamboo else 9) + (15 if bamboo else 18) * near * near
                color = mix(
                    colors.haze,
                    mix(
                        colors.leaf if bamboo else mix(colors.roof, (118, 72, 50), 0.5),
                        colors.ink,
                        0.15 + 0.1 * layer,
                    ),
                    0.25 + 0.7 * near,
                )
                _trunk(
                    scene, x + scene.between(-10, 10), 612 + 150 * near * near, width, color, bamboo
                )
                x += side * gap * scene.between(0.7, 1.3)
    rays = [
        [(620 + i * 70, 60), (660 + i * 70, 60), (430 + i * 90, 700), (340 + i * 90, 700)]
        for i in range(-2, 3)
    ]
    canvas.soft(rays, colors.orb, 0.16, 14)
    for layer in range(3):
        tone = mix(colors.leaf, colors.land, 0.15 + 0.25 * layer)
        for _ in range(34):
            x, y = scene.between(-20, WIDTH + 20), scene.between(-190, 190 - 40 * layer)
            (_bamboo_leaves if bamboo else _leaves)(scene, x, y - abs(x - 512) * -0.16, tone)
    person(scene, 508, 690, 84, True, mix(colors.accent, colors.ink, 0.2))
    bushes(scene, BOTTOM + 14, 36, mix(colors.leaf, colors.ink, 0.5), -20, 300)
    bushes(scene, BOTTOM + 14, 36, mix(colors.leaf, colors.ink, 0.5), 730, WIDTH + 20)


def _bamboo_leaves(scene: Scene, x: float, y: float, color: Color) -> None:
    for turn in (-0.9, -0.3, 0.25, 0.8):
        long = scene.between(26, 46)
        tip = (x + long * turn, y + long * (1 - abs(turn) * 0.5))
        scene.canvas.shape(
            [
                (x, y),
                (x + long * turn * 0.5 + 4, y + long * 0.34),
                tip,
                (x + long * turn * 0.5 - 4, y + long * 0.44),
            ],
            color,
        )


def _leaves(scene: Scene, x: float, y: float, color: Color) -> None:
    scene.canvas.disc(x, y - 20, scene.between(30, 60), color, scene.between(20, 34))


def _trunk(scene: Scene, x: float, foot: float, width: float, color: Color, bamboo: bool) -> None:
    canvas, colors = scene.canvas, scene.colors
    canvas.box(x - width / 2, -200, x + width / 2, foot, color)
    canvas.box(x - width / 2, -200, x - width * 0.2, foot, mix(color, colors.cloud, 0.2))
    if bamboo:
        y = foot - scene.between(10, 60)
        while y > -200:
            canvas.box(x - width * 0.6, y, x + width * 0.6, y + 3, mix(color, colors.ink, 0.25))
            y -= width * 4.5
    else:
        canvas.shape(
            [
                (x - width, foot),
                (x - width / 2, foot - width * 1.4),
                (x + width / 2, foot - width * 1.4),
                (x + width, foot),
            ],
            color,
        )


def field(scene: Scene) -> None:
    """Rows of flowers running to the hills."""
    colors, canvas = scene.colors, scene.canvas
    vx, vy = 512 + scene.side() * scene.between(60, 200), 530.0
    hills(scene, 540, 190, 4, 0.55)
    for tree in range(7):
        cypress(
            scene,
            60 + tree * 150 + scene.between(-50, 50),
            546,
            scene.between(50, 96),
            mix(colors.leaf, colors.land, 0.5),
        )
    soil = mix(colors.leaf, colors.land, 0.25)
    canvas.shaded(
        [(0, vy + 8), (WIDTH, vy + 8), (WIDTH, BOTTOM), (0, BOTTOM)],
        mix(soil, colors.haze, 0.3),
        mix(soil, colors.ink, 0.25),
    )
    flower = _flower(scene)
    for row in range(-16, 17):
        a, b = vx + row * 10, vx + row * 120
        tone = mix(flower, colors.ink, 0.08 * (row % 2))
        canvas.shaded(
            [(a - 2.2, vy + 8), (a + 2.2, vy + 8), (b + 36, BOTTOM), (b - 36, BOTTOM)],
            mix(tone, colors.haze, 0.25),
            tone,
        )
    for _ in range(420):
        depth = scene.between(0.02, 1) ** 1.6
        row = scene.chance.randint(-16, 16)
        x = vx + row * (10 + 110 * depth) + scene.between(-34, 34) * depth
        size = 1 + 5 * depth
        tone = mix(
            flower, colors.cloud if scene.maybe(0.6) else colors.ink, scene.between(0.1, 0.4)
        )
        canvas.disc(x, vy + 8 + (BOTTOM - vy) * depth, size, tone, size * 0.8)
    broadleaf(scene, 512 - (vx - 512) * 1.4, 640, 330)


def _flower(scene: Scene) -> Color:
    colors = scene.colors
    if scene.says("lavender", "ラベンダー", "iris", "菖蒲"):
        return mix((136, 96, 178), colors.haze, 0.12)
    if scene.says("sunflower", "ひまわり", "rape", "菜の花"):
        return (236, 178, 44)
    if scene.says("vineyard", "tea", "茶", "rice", "棚田", "ぶどう"):
        return mix(colors.leaf, colors.cloud, 0.2)
    return colors.bloom or mix(colors.accent, colors.water, 0.25 if scene.maybe() else 0.7)
