"""How one spot's picture is made, in this order: spot, prompt, known version, buy, check, store.

A provider's picture is not trusted: `decoder` decodes all of it and encodes it again.
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
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.translation import gettext_noop

from guides import decoder, makers, styles
from guides.makers import PictureRequest
from jobs import storage
from jobs.errors import Cancel, GarbageAnswer, Snooze, StorageRefused
from jobs.paid import calls
from jobs.paid.breaker import pausing_on
from jobs.run import Run

if TYPE_CHECKING:
    from guides.models import SpotDetail, SpotImageJob

WIDTHS = (480, 960, 1024)
MOST_TOKENS = 8_192  # of one picture, where a provider bills tokens
MOST_BYTES = 30 * 1024 * 1024
DECODERS = threading.BoundedSemaphore(2)  # each may take 640 MB
DECODING_SECONDS = 60  # wall time; the limit of processor time is shorter
STOPPED = {-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}  # by a supervisor, with its worker
# Signals that are the picture's fault: too much processor time, or a crash.
FATAL = {signal.SIGXCPU, signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE}
LONGEST_IN_PROMPT = 1_000
# Why a job was canceled: stored in English, translated when it is shown.
WITHDRAWN = gettext_noop("Its guide was withdrawn.")
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
    seconds: float = 0.0  # the provider's time; 0 if it came by batch


def make_picture(job: "SpotImageJob", run: Run) -> Picture:
    """Make the picture of the job's spot; the same request is neither made nor paid twice."""
    spot = find_spot(job)
    with run.step("prompt"):
        request = request_for(spot, generation=job.generation)
    known = known_picture(spot, request, run)
    return known or buy_picture(request, run, spot.guide.picture_strategy)


def find_spot(job: "SpotImageJob") -> "SpotDetail":
    spot = job.spots().select_related("guide").first()
    if spot is None:
        raise Cancel(f"There is no spot {job.spot_name!r} in guide {job.plan_id!r} any more.")
    if spot.guide.withdrawn_at:
        raise Cancel(WITHDRAWN)
    return spot


def request_for(spot: "SpotDetail", generation: int = 0) -> PictureRequest:
    """The request to the provider: the same for a spot until a person asks for a new picture."""
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


def buy_picture(request: PictureRequest, run: Run, strategy: str = "") -> Picture:
    bought = calls.buy(
        run,
        request.payload_hash,
        partial(makers.chosen().draw, request),
        request={"form": "picture", "prompt": request.prompt},
        most_tokens=(len(request.prompt.encode()), MOST_TOKENS),
        strategy=strategy,
    )
    with calls.using(bought) as raw:
        picture = from_answer(request, raw, run.step)
    seconds = 0.0 if bought.call.batch_id else bought.call.seconds  # not the hours in a batch
    return replace(picture, cost=bought.call.cost, seconds=seconds)


def from_answer(request: PictureRequest, raw: bytes, step: Step) -> Picture:
    """Check and store the maker's picture; the caller's `step` times both."""
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
    """Return the picture's files and size; `decoder` makes them in its own process.

    Raises BadPicture only if the picture is at fault: then a new one is bought.
    """
    if len(raw) > MOST_BYTES:
        raise BadPicture(f"The answer has {len(raw)} bytes; {MOST_BYTES} are the most.")
    command = [sys.executable, "-I", decoder.__file__, *map(str, WIDTHS)]
    try:
        with DECODERS:
            done = subprocess.run(
                command, input=raw, capture_output=True, timeout=DECODING_SECONDS, env={}
            )
    except (OSError, subprocess.TimeoutExpired) as fault:  # the machine's
        raise Snooze(5, f"The decoder could not do its work: {fault}") from fault
    if done.returncode in STOPPED:
        raise Snooze(5, "The decoder was stopped, probably together with its worker.")
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
    """The picture's lasting address: public, or a page of this site."""
    return storage.named("pictures").url(f"{object_name}/{WIDTHS[-1]}.webp")


def srcset(image_url: str) -> str:
    """All widths of our own picture; empty for a foreign one, whose widths are unknown."""
    ours = OURS.fullmatch(image_url)
    # "/" too: for pictures stored before the storage had a public address.
    if not ours or ours["site"] not in ("/", storage.named("pictures").base_url):
        return ""
    start = ours["site"] + ours["name"]
    return ", ".join(f"{start}/{width}.webp {width}w" for width in WIDTHS)


def colours(name: str) -> tuple[str, str]:
    """Two colours for a spot without a picture; the same name always gives the same two."""
    first, second = hashlib.sha256(name.encode(errors="replace")).digest()[:2]
    hue = first * 360 // 256
    other = (hue + 30 + second * 60 // 256) % 360
    return f"hsl({hue} 45% 62%)", f"hsl({other} 50% 42%)"
