"""Places at eye level: garden, hot spring, market."""

from guides.painter.canvas import arc, bend, mix
from guides.painter.eaves import arched_bridge, paper_lantern, roof, stone_lantern
from guides.painter.land import fill_below, hills, ridge, water
from guides.painter.people import crowd
from guides.painter.scene import BOTTOM, WIDTH, Scene
from guides.painter.trees import broadleaf, bushes, firs, matsu


def garden(scene: Scene) -> None:
    """A pond, a red bridge, a lantern and a pine."""
    colors, canvas = scene.colors, scene.canvas
    side = scene.side()
    line = 570.0
    hills(scene, 540, 200, 3, 0.5)
    bushes(scene, 552, 56, mix(colors.distant(0.6), colors.leaf, 0.45))
    for x in (512 - side * 60, 512 + side * 130, 512 - side * 210):
        broadleaf(scene, x, 572, scene.between(150, 210))
    bushes(scene, 566, 26, mix(colors.distant(0.7), colors.leaf, 0.8))
    arched_bridge(scene, 512 + side * 70, line + 6, 210, 96)
    water(scene, line, BOTTOM, 0.6)
    arched_bridge(scene, 512 + side * 70, line + 6, 210, 96)
    bank = mix(colors.leaf, colors.land, 0.4)
    x0, x1 = (-10, 470) if side > 0 else (WIDTH + 10, WIDTH - 470)
    shore = bend((x0, 640), ((x0 + x1) / 2, 640), (x1, BOTTOM))
    canvas.shaded([*shore, (x0, BOTTOM)], bank, mix(bank, colors.ink, 0.45))
    stone_lantern(
        scene, 512 - side * 116, 776, 200, scene.says("kenroku", "兼六") or scene.maybe(0.3)
    )
    matsu(scene, 512 - side * 420, 740, 430, side)
    for dx, w in ((-230, 46), (-300, 28)):
        canvas.disc(512 + dx * side, 776, w, mix(colors.shade, colors.ink, 0.4), w * 0.42)


def onsen(scene: Scene) -> None:
    """Inns along a hot river, and steam."""
    colors, canvas = scene.colors, scene.canvas
    hills(scene, 520, 280, 3, 0.6)
    firs(scene, 540, 130, mix(colors.distant(0.7), colors.leaf, 0.25), 30)
    for side in (-1, 1):
        for row in (3, 2, 1, 0):
            share = row / 3
            cx = 512 + side * (420 - 250 * share)
            _inn(
                scene,
                cx,
                640 - 70 * share,
                150 - 84 * share,
                2 + (row == 0),
                0.7 + 0.3 * (1 - share),
            )
    left = bend((470, 560), (430, 640), (230, BOTTOM))
    right = bend((794, BOTTOM), (594, 640), (554, 560))
    stone = mix(colors.shade, colors.land, 0.3)
    fill_below(scene, ridge(scene, 640, 6, 0.1), stone, mix(stone, colors.ink, 0.4))
    canvas.shaded([*left, *right], mix(colors.water, colors.haze, 0.5), colors.water)
    for _ in range(26):
        depth = scene.between(0.1, 1)
        y = 580 + 210 * depth
        canvas.pill(
            512 + scene.between(-1, 1) * 180 * depth,
            y,
            20 + 50 * depth,
            2 + 2 * depth,
            mix(colors.water, colors.cloud, 0.5),
        )
    arched_bridge(scene, 512, 690, 220, 46)
    plumes = []
    for _ in range(9):
        x, y = 512 + scene.between(-190, 190), scene.between(560, 720)
        sway = scene.between(-70, 70)
        high = scene.between(170, 330)
        edge = bend((x - 20, y), (x - 60 + sway, y - high * 0.5), (x - 30 - sway, y - high))
        back = bend((x + 40 - sway, y - high), (x + 60 + sway, y - high * 0.5), (x + 24, y))
        plumes.append([*edge, *back])
    canvas.soft(plumes, colors.cloud, 0.42, 26)
    for x in (300, 724):
        paper_lantern(scene, x, 672, 20, mix(colors.accent, colors.lamp, 0.3))


def _inn(scene: Scene, cx: float, base: float, half: float, floors: int, near: float) -> None:
    colors, canvas = scene.colors, scene.canvas
    wood = scene.dim(mix(colors.roof, colors.accent, 0.25), near)
    high = half * 0.62
    for floor in range(floors):
        y = base - floor * high
        canvas.box(cx - half, y - high, cx + half, y, wood)
        for pane in range(6):
            x = cx - half + 2 * half * (pane + 0.5) / 6
            if scene.maybe(0.8):
                canvas.box(
                    x - half * 0.11,
                    y - high * 0.66,
                    x + half * 0.11,
                    y - high * 0.16,
                    scene.dim(colors.lamp, near),
                )
                canvas.line([(x, y - high * 0.66), (x, y - high * 0.16)], wood, 1.5)
        tile = scene.dim(colors.roof, near)
        rise = half * (0.5 if floor == floors - 1 else 0.2)
        roof(scene, cx, y - high + 4, half * 1.2, rise, half * 0.8, tile, half * 0.06)
        if colors.name == "winter" and floor == floors - 1:
            roof(scene, cx, y - high - 4, half * 1.1, rise, half * 0.8, colors.cloud, half * 0.06)


def market(scene: Scene) -> None:
    """A lane of stalls under strings of lanterns."""
    colors, canvas = scene.colors, scene.canvas
    vx, vy = 512.0, 540.0
    hills(scene, 560, 160, 2, 0.5)
    canvas.glow(vx, vy, 330, colors.lamp, 0.75)
    lane = mix(colors.shade, colors.lamp, 0.25)
    canvas.shaded(
        [(vx - 60, vy), (vx + 60, vy), (900, BOTTOM), (124, BOTTOM)],
        mix(lane, colors.lamp, 0.35),
        mix(lane, colors.ink, 0.35),
    )
    for row in range(4):
        share = ((row + 1) / 4) ** 1.6
        for side in (-1, 1):
            _stall(scene, vx, vy, side, share, row)
    crowd(scene, 5, 632, 84, 400, 620)
    crowd(scene, 4, 716, 128, 350, 680)
    for string in range(4):
        share = (string + 1) / 4
        y, sag, half = 440 - 290 * share, 30 + 60 * share, 130 + 390 * share
        wire = bend((vx - half, y), (vx, y + sag * 2), (vx + half, y), 12)
        canvas.line(wire, mix(colors.ink, colors.roof, 0.4), 1.2)
        for i in range(1, 12, 2 if string < 2 else 1):
            if string == 3 and i % 2:
                continue
            color = colors.accent if (i // 2 + string) % 2 else mix(colors.lamp, colors.wall, 0.4)
            size = 7 + 20 * share
            paper_lantern(scene, wire[i][0], wire[i][1] + size, size, color)


def _stall(scene: Scene, vx: float, vy: float, side: int, share: float, row: int) -> None:
    colors, canvas = scene.colors, scene.canvas
    near, far = 70 + 430 * share, 70 + 430 * max(share - 0.28 - 0.1 * share, 0)
    high, low = 190 + 320 * share, 150 * share + 40
    x0, x1 = vx + side * far, vx + side * near
    base0, base1 = vy + 300 * max(share - 0.3, 0), vy + 262 * share
    house = mix(mix(colors.roof, colors.ink, 0.3), colors.lamp, 0.3 * (1 - share))
    outer = vx + side * 560
    canvas.shape(
        [
            (x0, base0),
            (x0, base0 - high * 0.62),
            (outer, vy - high * 0.95),
            (outer, BOTTOM),
            (x1, base1),
        ],
        house,
    )
    top0, top1 = base0 - low * 0.95, base1 - low * 1.28
    inside = mix(colors.lamp, colors.accent, 0.18)
    canvas.shape([(x0, top0), (x1 + side * 60, top1), (x1 + side * 60, base1), (x0, base0)], inside)
    canvas.shape(
        [
            (x0, base0 - low * 0.34),
            (x1 + side * 60, base1 - low * 0.4),
            (x1 + side * 60, base1 + 8),
            (x0, base0),
        ],
        mix(colors.roof, colors.accent, 0.3),
    )
    for fruit in range(9):
        t = (fruit + 0.5) / 9
        size = 5 + 9 * share
        canvas.disc(
            x0 + (x1 + side * 50 - x0) * t,
            base0 + (base1 - base0) * t - low * (0.36 + 0.05 * t),
            size,
            (colors.accent, colors.leaf, colors.lamp)[fruit % 3],
        )
    stripes = 6
    cloth = (
        colors.accent,
        mix(colors.leaf, colors.roof, 0.3),
        mix(colors.water, colors.roof, 0.4),
    )[(row + (side > 0)) % 3]
    for stripe in range(stripes):
        a, b = (stripe / stripes, (stripe + 1) / stripes)
        end = x1 + side * 70
        at = [(x0 + (end - x0) * t, top0 + (top1 - top0) * t) for t in (a, b)]
        rise, out = 44 * share + 12, -side * 26 * share
        color = cloth if stripe % 2 == 0 else colors.wall
        canvas.shape(
            [
                (at[0][0], at[0][1] - rise),
                (at[1][0], at[1][1] - rise),
                (at[1][0] + out, at[1][1] + rise * 0.5),
                (at[0][0] + out, at[0][1] + rise * 0.5),
            ],
            color,
        )
        mid = (at[0][0] + at[1][0]) / 2 + out
        canvas.shape(
            arc(
                mid,
                (at[0][1] + at[1][1]) / 2 + rise * 0.45,
                abs(at[1][0] - at[0][0]) / 2,
                rise * 0.3,
                0,
                180,
            ),
            color,
        )
