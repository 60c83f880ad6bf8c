"""What every motif gets: a canvas, colours and seeded randomness."""

import random
from dataclasses import dataclass, field

from guides.painter.canvas import SIZE, Canvas, Color, mix
from guides.painter.palettes import Palette

# A scene ends here; below is only lettering. Motifs stay below y = 150 or so: a long title moves
# the scene up, and a title in the sky needs room.
BOTTOM = 800
HORIZON = 560
WIDTH = SIZE


@dataclass
class Scene:
    """One picture in the making."""

    canvas: Canvas
    colors: Palette
    chance: random.Random
    text: str = ""  # all words of the spot, in small letters
    japan: bool = False
    orb: tuple[float, float] = field(default=(0, 0))

    def says(self, *words: str) -> bool:
        return any(word in self.text for word in words)

    def between(self, low: float, high: float) -> float:
        return self.chance.uniform(low, high)

    def maybe(self, share: float = 0.5) -> bool:
        return self.chance.random() < share

    def side(self) -> int:
        return 1 if self.maybe() else -1

    def sky_at(self, y: float) -> Color:
        """The colour of the sky behind a place in the scene."""
        return self.colors.sky_at((y + 184) / (HORIZON + 184))

    def dim(self, color: Color, near: float) -> Color:
        """A colour faded by distance."""
        return mix(self.colors.haze, color, near)
