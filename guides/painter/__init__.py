"""The painter: a travel poster for any spot, without a key and without a network.

The same words give the same picture, to the byte, in every process.
"""

import hashlib
import io
import random
from collections.abc import Sequence

from guides.painter import choice, media, poster, sky
from guides.painter.canvas import FINE, Canvas
from guides.painter.land import falling
from guides.painter.scene import Scene

__all__ = ["paint"]


def paint(
    name: str, description: str = "", tags: Sequence[str] = (), place: str = "", style: str = ""
) -> bytes:
    """Return a poster of the spot: PNG, RGB, 1024 x 1024.

    `style` may be a palette, such as "night", or name a medium, such as watercolour; any other
    word only varies the picture.
    """
    seed = _seed(name, description, *tags, place, style)
    chance = random.Random(seed)
    title = poster.make_title(name, place)
    motif = choice.choose(name, description, tags, place, chance)
    colors = choice.choose_palette(motif, name, description, tags, style, chance)
    layout = poster.choose_layout(title, chance)
    canvas = Canvas(poster.shift_for(layout, title))
    scene = Scene(
        canvas, colors, chance, choice.joined(name, description, tags),
        choice.is_japan(name, description, place),
    )  # fmt: skip
    sky.paint_sky(scene, *choice.place_orb(motif, chance))
    motif.draw(scene)
    falling(scene)
    use_medium(canvas, style)
    image = poster.finish(canvas, colors, layout, title, seed)
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=3)
    return out.getvalue()


def use_medium(canvas: Canvas, style: str) -> None:
    """Apply the medium before the lettering, which must stay sharp."""
    medium = media.named_in(style)
    if medium:
        canvas.image.paste(medium(canvas.image.reduce(FINE)).resize(canvas.image.size))


def _seed(*words: str) -> int:
    text = "\x1f".join(words).encode(errors="surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:8])
