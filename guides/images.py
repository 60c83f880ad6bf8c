"""How one spot's picture is made: prompt, picture, check, store.

What a provider sends is not trusted: it is decoded whole and encoded anew, by `decoder`.
"""

import base64
import hashlib
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.template.loader import render_to_string

from guides import decoder, providers, styles
from guides.providers import PictureRequest
from jobs import storage
from jobs.errors import GarbageAnswer

if TYPE_CHECKING:
    from guides.models import SpotDetail

WIDTHS = (480, 960, 1024)
MOST_BYTES = 30 * 1024 * 1024
DECODERS = threading.BoundedSemaphore(2)  # so many at once, of 640 MB each at most
DECODING_SECONDS = 60  # by the clock; its processor time is limited to less
# By its own fault: too much processor time, or a crash.
FATAL = {signal.SIGXCPU, signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE}
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
    provider = providers.chosen()
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
        provider=provider.name,
        model=provider.model,
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
        made = decode(raw)
        files = {width: base64.b64decode(made["files"][str(width)]) for width in WIDTHS}
    with step("store"):
        object_name = f"pictures/{hashlib.sha256(raw).hexdigest()}"
        for width, content in files.items():
            storage.named("pictures").put(f"{object_name}/{width}.webp", content)
    return Picture(
        payload_hash=request.payload_hash,
        object_name=object_name,
        bytes=sum(map(len, files.values())),
        width=made["width"],
        height=made["height"],
        blur="data:image/webp;base64," + made["blur"],
        provider=request.provider,
        model=request.model,
        prompt=request.prompt,
    )


def decode(raw: bytes) -> dict[str, Any]:
    """Its files and its size; see `decoder`, which does it in a process of its own.

    BadPicture only if it is the picture's fault: then it is bought again.
    """
    if len(raw) > MOST_BYTES:
        raise BadPicture(f"The answer has {len(raw)} bytes; {MOST_BYTES} are the most.")
    command = [sys.executable, "-I", decoder.__file__, *map(str, WIDTHS)]
    with DECODERS:
        done = subprocess.run(
            command, input=raw, capture_output=True, timeout=DECODING_SECONDS, env={}
        )
    if -done.returncode in FATAL:
        error = f"its decoder ended with {signal.Signals(-done.returncode).name}"
    elif done.returncode:
        raise RuntimeError(f"The decoder ended with {done.returncode}: {done.stderr[-500:]!r}")
    else:
        made: dict[str, Any] = json.loads(done.stdout)
        error = made.get("error", "")
    if error:
        raise BadPicture(f"Not a picture: {error} (it begins with {raw[:20]!r})")
    return made


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
