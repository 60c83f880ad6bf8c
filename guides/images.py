"""How one spot's picture is made, in this order: spot, prompt, known version, buy, check, store.

What a provider sends is not trusted: it is decoded whole and encoded anew.
"""

import base64
import hashlib
import io
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from django.conf import settings
from django.template.loader import render_to_string
from PIL import Image, ImageFilter, ImageOps

from guides import makers, styles
from guides.makers import PictureRequest
from jobs import storage
from jobs.errors import Cancel, GarbageAnswer, StorageRefused
from jobs.paid import calls
from jobs.paid.limits import pausing_on
from jobs.run import Run

if TYPE_CHECKING:
    from guides.models import SpotDetail, SpotImageJob

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


def make_picture(job: "SpotImageJob", run: Run) -> Picture:
    """Make the picture of the job's spot; the same request is neither made nor paid twice."""
    spot = find_spot(job)
    with run.step("prompt"):
        request = request_for(spot, generation=job.generation)
    return known_picture(spot, request, run) or buy_picture(request, run)


def find_spot(job: "SpotImageJob") -> "SpotDetail":
    spot = job.spots().select_related("guide").first()
    if spot is None:
        raise Cancel(f"There is no spot {job.spot_name!r} in guide {job.plan_id!r} any more.")
    return spot


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


def known_picture(spot: "SpotDetail", request: PictureRequest, run: Run) -> Picture | None:
    """The picture that answered the same request before, if its files are still there."""
    version = spot.images.filter(payload_hash=request.payload_hash).first()
    if version is None:
        return None
    with run.step("store"), pausing_on(StorageRefused, makers.full_name()):
        return version.as_picture() if is_stored(version.object_name) else None


def buy_picture(request: PictureRequest, run: Run) -> Picture:
    bought = calls.buy(run, request.payload_hash, partial(makers.chosen().draw, request))
    with calls.using(bought) as raw:
        picture = from_answer(request, raw, run.step)
    return replace(picture, cost=bought.call.cost, seconds=bought.call.seconds)


def from_answer(request: PictureRequest, raw: bytes, step: Step) -> Picture:
    """Check what the maker sent and store it; the caller's `step` times both."""
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
