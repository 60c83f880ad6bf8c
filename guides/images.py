"""How one spot's picture is made: prompt, picture, check, store.

What a provider sends is not trusted: it is decoded whole and encoded anew.
"""

import base64
import hashlib
import io
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from django.conf import settings
from django.template.loader import render_to_string
from PIL import Image, ImageFilter, ImageOps

from guides import makers, styles
from guides.makers import PictureRequest
from jobs import storage
from jobs.errors import GarbageAnswer

if TYPE_CHECKING:
    from guides.models import SpotDetail

WIDTHS = (480, 960, 1024)
MOST_BYTES = 30 * 1024 * 1024
MOST_PIXELS = 40_000_000
FORMATS = ["PNG", "JPEG", "WEBP"]
LONGEST_IN_PROMPT = 1_000
OURS = re.compile(r"(?P<site>.*/)(?P<name>pictures/[0-9a-f]{64})/\d+\.webp")

Step = Callable[[str], AbstractContextManager[None]]


class BadPicture(GarbageAnswer):
    """What the provider sent can't be shown as a picture."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A checked picture whose files are stored."""

    payload_hash: str
    object_name: str
    bytes: int
    width: int
    height: int
    blur: str
    provider: str
    model: str
    prompt: str
    cost: Decimal = Decimal(0)
    seconds: float = 0.0  # that the provider took


def request_for(spot: "SpotDetail", generation: int = 0) -> PictureRequest:
    """What is asked of the provider: the same spot asks the same, until a person wants another."""
    maker = makers.chosen()
    style = styles.words_for(spot.guide.picture_style)
    quoted = {
        "spot_name": spot.spot_name[:LONGEST_IN_PROMPT],
        "description": spot.description[:LONGEST_IN_PROMPT],
        "destination": spot.guide.destination[:LONGEST_IN_PROMPT],
        "tags": spot.topic_tags,
        "style": style,
        "language": settings.PICTURE_LANGUAGE,
    }
    return PictureRequest(
        provider=maker.name,
        model=maker.model,
        prompt=render_to_string("guides/prompt.txt", quoted).strip(),
        name=spot.spot_name,
        description=spot.description,
        tags=tuple(spot.topic_tags),
        place=spot.guide.destination,
        style=style,
        generation=generation,
    )


def make_picture(request: PictureRequest, raw: bytes, step: Step) -> Picture:
    """Check what the provider sent and store it; each step is timed by who asked."""
    with step("check"):
        image = check(raw)
        files = {width: encode(image, width) for width in WIDTHS}
        blur = blurred(image)
    with step("store"):
        object_name = f"pictures/{hashlib.sha256(raw).hexdigest()}"
        for width, content in files.items():
            storage.named("pictures").put(f"{object_name}/{width}.webp", content)
    return Picture(
        payload_hash=request.payload_hash,
        object_name=object_name,
        bytes=sum(map(len, files.values())),
        width=image.width,
        height=image.height,
        blur=blur,
        provider=request.provider,
        model=request.model,
        prompt=request.prompt,
    )


def check(raw: bytes) -> Image.Image:
    """Decode all of it, within bounds. What is not pixels (EXIF, scripts) is left behind."""
    if len(raw) > MOST_BYTES:
        raise BadPicture(f"The answer has {len(raw)} bytes; {MOST_BYTES} are the most.")
    try:
        image = Image.open(io.BytesIO(raw), formats=FORMATS)
        if image.width * image.height > MOST_PIXELS:
            raise BadPicture(f"{image.width} x {image.height} pixels are too many.")
        image.load()
        return flat(ImageOps.exif_transpose(image))
    except (BadPicture, MemoryError):  # the second is not the picture's fault
        raise
    except Exception as error:  # Pillow's decoders raise whatever they stumble over
        start = raw[:20]
        raise BadPicture(f"Not a picture: {error} (it begins with {start!r})") from error


def flat(image: Image.Image) -> Image.Image:
    """On white, where it was transparent."""
    image = image.convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(white, image).convert("RGB")


def encode(image: Image.Image, width: int) -> bytes:
    width = min(width, image.width)
    height = max(1, round(image.height * width / image.width))
    content = io.BytesIO()
    # Method 2 takes half the time of the default, for files that are a fiftieth larger.
    image.resize((width, height), Image.Resampling.LANCZOS).save(
        content, "WEBP", quality=82, method=2
    )
    return content.getvalue()


def blurred(image: Image.Image) -> str:
    """A few hundred bytes for the page itself, shown while the file is loading."""
    tiny = image.resize((24, 24)).filter(ImageFilter.GaussianBlur(1))
    content = io.BytesIO()
    tiny.save(content, "WEBP", quality=40)
    return "data:image/webp;base64," + base64.b64encode(content.getvalue()).decode()


def is_stored(object_name: str) -> bool:
    files = storage.named("pictures")
    return all(files.exists(f"{object_name}/{width}.webp") for width in WIDTHS)


def url_of(object_name: str) -> str:
    """Its address for as long as it is stored: public, or a page of this site."""
    return storage.named("pictures").url(f"{object_name}/{WIDTHS[-1]}.webp")


def srcset(image_url: str) -> str:
    """All widths of a picture of our own; of a foreign one we know only what it is."""
    ours = OURS.fullmatch(image_url)
    # "/" too: what was painted before the storage had a public address.
    if not ours or ours["site"] not in ("/", storage.named("pictures").base_url):
        return ""
    start = ours["site"] + ours["name"]
    return ", ".join(f"{start}/{width}.webp {width}w" for width in WIDTHS)


def colours(name: str) -> tuple[str, str]:
    """Two colours of a spot that has no picture yet: always the same two."""
    first, second = hashlib.sha256(name.encode(errors="replace")).digest()[:2]
    hue = first * 360 // 256
    other = (hue + 30 + second * 60 // 256) % 360
    return f"hsl({hue} 45% 62%)", f"hsl({other} 50% 42%)"
