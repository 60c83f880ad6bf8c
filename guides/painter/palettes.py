"""The colours of an hour and a season; a poster uses one set and nothing else."""

from dataclasses import dataclass

from guides.painter.canvas import Color, along, mix, rgb


@dataclass(frozen=True)
class Palette:
    """Every colour on one poster, by what it is used for."""

    name: str
    sky: tuple[Color, ...]  # from the top to the horizon
    orb: Color
    cloud: Color
    land: Color  # the nearest land; farther land fades into the sky
    leaf: Color
    water: Color
    wall: Color
    roof: Color
    accent: Color
    lamp: Color  # windows and lanterns
    ink: Color
    paper: Color
    moon: bool = False
    bloom: Color | None = None  # trees in blossom or in autumn leaves

    @property
    def haze(self) -> Color:
        return self.sky[-1]

    @property
    def shade(self) -> Color:
        """The colour of a wall in shadow."""
        return mix(self.wall, self.ink, 0.3 if not self.moon else 0.42)

    def distant(self, near: float) -> Color:
        """The colour of land at a distance: 0 is the horizon, 1 is the foreground."""
        return mix(mix(self.haze, self.land, 0.16), self.land, near)

    def sky_at(self, share: float) -> Color:
        return along(self.sky, share)


def _palette(name: str, colors: str, bloom: str = "", moon: bool = False) -> Palette:
    sky, rest = colors.split("|")
    orb, cloud, land, leaf, water, wall, roof, accent, lamp, ink, paper = map(rgb, rest.split())
    return Palette(
        name, tuple(map(rgb, sky.split())), orb, cloud, land, leaf, water, wall, roof, accent,
        lamp, ink, paper, moon, rgb(bloom) if bloom else None,
    )  # fmt: skip


# sky, top first | orb cloud land leaf water wall roof accent lamp ink paper
PALETTES = {
    palette.name: palette
    for palette in (
        _palette(
            "dawn",
            "6d8fb3 a9b4c8 e9c3b4 fbdcb8"
            "| fff3d6 fbe6d8 3d4f66 4f6b6b 86a3b8 f7e9d8 46506a c8553d ffd98a 26324a f6eddc",
        ),
        _palette(
            "morning",
            "3f93b5 7dbcc8 c5e0d0 f6ecc9"
            "| fffbe6 ffffff 2f5d57 4f8a5b 4ea3b0 fbf3e0 35566b d9573b ffe29a 1d3a4a f8f0de",
        ),
        _palette(
            "noon",
            "1f6f9f 4a9cc0 8cc8d2 d8ecdc"
            "| fff6d0 ffffff 2c5a4c 5d9552 2b8ca8 fdf6e6 3b4f5e d84f35 ffe08c 16324a f9f1df",
        ),
        _palette(
            "golden",
            "d98a4a eaab5c f5cb7c fbe6ae"
            "| fffae0 fdeccb 4d3b3a 6f6238 d59a5e fbeccd 5a3a35 b8402f ffe7a0 38262b f7ecd4",
        ),
        _palette(
            "sunset",
            "4a3a68 a8486b e8704f fbb867"
            "| ffe9a8 f79f79 2e2542 4a3350 b8566a f6d3b0 3a2a4a d43d3a ffd678 241c38 f8ead2",
        ),
        _palette(
            "dusk",
            "27345f 5a568a a9789c efb0a0"
            "| fff0d2 c893a8 23294a 34466a 6d6c9c e6c9bd 2b2f55 d8584f ffc978 1a1f3c f5e9dc",
        ),
        _palette(
            "night",
            "0d1b38 17305a 2c527f 5b86a3"
            "| fdf3cf 3d5f88 0c1a30 1b3a4a 264a72 a9bccb 14243f c94a3f ffcf70 0a1428 f3ead6",
            moon=True,
        ),
        _palette(
            "spring",
            "8fc1cf b9d8d6 e4e6d6 fbe3dc"
            "| fffdf2 fffaf5 4a6b5e 7fa06a 8fbfc4 fdf5ec 4d5b6e d85f5a ffe3a0 33445a faf2e6",
            bloom="f2a7b5",
        ),
        _palette(
            "autumn",
            "5f8f96 a3b79e e6cf9a f8dfae"
            "| fff4d2 fbeed4 5a3c2e 8a5a30 7f9c94 f9ebd0 4a352f c0392b ffd98a 33241f f7ebd3",
            bloom="d9622b",
        ),
        _palette(
            "winter",
            "466c90 86a6be c9d8dc f0ece2"
            "| fff9ea ffffff 3a5068 55707e 8caec0 fbf8f0 34465a c0443a ffd890 223248 f6f1e6",
        ),
        _palette(
            "mint",
            "4fa79a 86c6b0 c6e2c4 f9ebc6"
            "| f26b4e fdf6e0 1f4a58 3c7a68 3f9aa0 fdf3dc 27405a e8593f ffdf94 173446 f9efd9",
        ),
        _palette(
            "woodblock",
            "24508a 6f95b5 d9dcc8 f4e6c4"
            "| d8402f f7efd9 28435f 4c7060 4f86a8 f6ead0 2b3c55 cf4330 ffdc90 1b2c48 f5e9cc",
        ),
    )
}
