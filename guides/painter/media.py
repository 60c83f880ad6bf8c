"""Media that change the finished drawing: watercolour, woodblock or ink."""

import re
from collections.abc import Callable

from PIL import Image, ImageChops, ImageFilter, ImageOps

PAPER = (250, 246, 238)
LINES = (44, 36, 40)

Medium = Callable[[Image.Image], Image.Image]


def named_in(style: str) -> Medium | None:
    found = (MEDIA[word] for word in MEDIA if re.search(rf"\b{word}\b", style, re.IGNORECASE))
    return next(found, None)


def watercolour(image: Image.Image) -> Image.Image:
    """Pale washes that run into each other, darker where one ends."""
    wash = Image.blend(image.filter(ImageFilter.GaussianBlur(8)), image, 0.55)
    pale = Image.blend(wash, Image.new("RGB", image.size, PAPER), 0.42)
    rim = _outlines(image, strength=3).filter(ImageFilter.GaussianBlur(2))
    return Image.composite(ImageChops.multiply(pale, wash), pale, rim)


def woodblock(image: Image.Image) -> Image.Image:
    """A few flat colours and dark outlines."""
    flat = image.quantize(9, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).convert("RGB")
    return _draw(flat, _outlines(image, strength=4))


def ink(image: Image.Image) -> Image.Image:
    """Lines and grey on paper, with a hint of colour."""
    grey = ImageOps.autocontrast(ImageOps.grayscale(image)).convert("RGB")
    washes = Image.blend(Image.blend(grey, image, 0.25), Image.new("RGB", image.size, PAPER), 0.45)
    return _draw(washes, _outlines(image, strength=7))


def _outlines(image: Image.Image, strength: float) -> Image.Image:
    edges = ImageOps.grayscale(image).filter(ImageFilter.GaussianBlur(1))
    found = edges.filter(ImageFilter.FIND_EDGES)
    return found.point([min(255, round(max(0, value - 6) * strength)) for value in range(256)])


def _draw(image: Image.Image, lines: Image.Image) -> Image.Image:
    return Image.composite(Image.new("RGB", image.size, LINES), image, lines)


MEDIA: dict[str, Medium] = {
    "watercolou?r": watercolour,
    "woodblock": woodblock,
    "ink": ink,
}
