"""City, town and church."""

from guides.painter.canvas import arc, mix
from guides.painter.houses import blocks, gables, lancet
from guides.painter.land import hills, water
from guides.painter.people import crowd
from guides.painter.scene import BOTTOM, WIDTH, Scene
from guides.painter.trees import bushes


def city(scene: Scene) -> None:
    """A skyline and its reflection."""
    colors = scene.colors
    blocks(scene, 590, 140, 330, colors.distant(0.22), 0.2)
    blocks(scene, 590, 90, 260, colors.distant(0.45), 0.3)
    _landmark(scene, 512 + scene.side() * scene.between(80, 200), 590)
    blocks(scene, 600, 40, 150, colors.distant(0.72), 0.4)
    bushes(scene, 602, 16, mix(colors.leaf, colors.ink, 0.3))
    water(scene, 606, BOTTOM, 0.62)


def _landmark(scene: Scene, cx: float, base: float) -> None:
    canvas, colors = scene.canvas, scene.colors
    body = colors.distant(0.6)
    lamp = mix(body, colors.lamp, 0.7)
    for half, low, up in ((52, 0, 280), (40, 280, 350), (26, 350, 400), (12, 400, 430)):
        canvas.box(cx - half, base - up, cx + half, base - low, body)
        canvas.box(cx + half * 0.3, base - up, cx + half, base - low, mix(body, colors.ink, 0.2))
        for wx in range(int(cx - half) + 6, int(cx + half) - 5, 11):
            canvas.box(wx, base - up + 8, wx + 4, base - low - 6, mix(body, lamp, 0.45))
    canvas.shape([(cx - 4, base - 430), (cx, base - 500), (cx + 4, base - 430)], body)


def town(scene: Scene) -> None:
    """Old houses climbing to a bell tower."""
    colors, canvas = scene.colors, scene.canvas
    hills(scene, 520, 220, 3, 0.5)
    cx = 512 + scene.side() * scene.between(60, 180)
    wall = mix(colors.wall, colors.lamp, 0.2)
    canvas.box(cx - 38, 270, cx + 38, 620, wall)
    canvas.box(cx + 10, 270, cx + 38, 620, colors.shade)
    canvas.box(cx - 46, 264, cx + 46, 276, colors.shade)
    lancet(scene, cx - 12, 350, 12, 56)
    canvas.disc(cx - 4, 400, 20, mix(colors.lamp, colors.cloud, 0.4))
    canvas.shape([(cx - 44, 264), (cx, 170), (cx + 44, 264)], mix(colors.accent, colors.roof, 0.45))
    for base, size in ((520, 62), (600, 78), (690, 98)):
        gables(scene, base, size)
        bushes(scene, base + 80, 24, mix(colors.leaf, colors.land, 0.35))
    stone = mix(colors.wall, colors.shade, 0.5)
    canvas.shaded(
        [(0, 752), (WIDTH, 752), (WIDTH, BOTTOM), (0, BOTTOM)], stone, mix(stone, colors.ink, 0.3)
    )
    crowd(scene, 6, 780, 60, 160, 860)


def church(scene: Scene) -> None:
    """Two spires and a rose window over the old roofs."""
    colors, canvas = scene.colors, scene.canvas
    hills(scene, 570, 150, 3, 0.4)
    cx, base = 512 + scene.side() * scene.between(0, 90), 670.0
    wall, dark = colors.wall, colors.shade
    tile = mix(colors.roof, colors.water, 0.15)
    canvas.box(cx - 92, base - 270, cx + 92, base, wall)
    canvas.shape(
        [(cx - 92, base - 270), (cx, base - 360), (cx + 92, base - 270)], mix(wall, dark, 0.3)
    )
    for side in (-1, 1):
        x = cx + side * 124
        canvas.box(x - 50, base - 380, x + 50, base, wall if side < 0 else mix(wall, dark, 0.45))
        canvas.box(x + 16, base - 380, x + 50, base, dark)
        for y in (290, 190):
            lancet(scene, x - 14, base - y, 15, 66)
        canvas.box(x - 56, base - 388, x + 56, base - 376, dark)
        canvas.shape(
            [(x - 50, base - 386), (x, base - 556), (x + 8, base - 386)],
            mix(tile, colors.cloud, 0.12),
        )
        canvas.shape([(x + 8, base - 386), (x, base - 556), (x + 50, base - 386)], tile)
        canvas.box(x - 1.5, base - 586, x + 1.5, base - 550, colors.ink)
        canvas.box(x - 8, base - 576, x + 8, base - 573, colors.ink)
    canvas.disc(cx, base - 220, 50, mix(dark, colors.ink, 0.4))
    for petal in arc(cx, base - 220, 30, 30, 0, 360)[::3]:
        canvas.disc(petal[0], petal[1], 11, mix(colors.lamp, colors.accent, 0.25))
    canvas.disc(cx, base - 220, 12, colors.lamp)
    for dx, w in ((-56, 18), (0, 26), (56, 18)):
        lancet(scene, cx + dx, base, w, 70 + w)
    gables(scene, 700, 70)
    bushes(scene, 770, 44, mix(colors.bloom or colors.leaf, colors.land, 0.2))
    bushes(scene, 806, 50, mix(colors.leaf, colors.ink, 0.5))
