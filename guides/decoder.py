"""Turns an untrusted picture into files: runs as its own process, within limits.

A decoder may crash, compute for minutes or ask for gigabytes. In its own process it harms no
other work and knows no secrets. It imports only Pillow, because it starts for every picture.

    python decoder.py 480 960 1024 < picture > files.json
"""

import base64
import io
import json
import resource
import signal
import sys
from contextlib import suppress
from typing import Any

from PIL import Image, ImageFilter, ImageOps

FORMATS = ["PNG", "JPEG", "WEBP"]
# The largest size that image services sell, 16 times what a page shows; 64 MB when decoded.
MOST_PIXELS = 4096 * 4096
CPU_SECONDS = 10  # the largest picture takes about 1
MOST_MEMORY = 640 * 1024 * 1024  # address space; the largest picture takes half of it


def limit() -> None:
    """Limit processor time, not wall time: a busy machine is not the picture's fault."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError):  # macOS has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    for stop in (signal.SIGTERM, signal.SIGINT):  # for the worker, which waits for this process
        signal.signal(stop, signal.SIG_IGN)


def files(raw: bytes, widths: list[int]) -> dict[str, Any]:
    """The picture as WebP in each width, a blurred preview, and the original size."""
    image = decoded(raw)
    size = {"width": image.width, "height": image.height}
    image = flat(reduced(image, max(widths)))
    encoded = {width: encode(image, width) for width in widths}
    return {**size, "blur": as_text(blurred(image)), "files": encoded}


def decoded(raw: bytes) -> Image.Image:
    """All pixels, if there are not too many. Everything else (EXIF, scripts) is dropped."""
    image = Image.open(io.BytesIO(raw), formats=FORMATS)
    if image.width * image.height > MOST_PIXELS:
        raise ValueError(f"{image.width} x {image.height} pixels are too many.")
    image.load()
    return ImageOps.exif_transpose(image)


def reduced(image: Image.Image, width: int) -> Image.Image:
    """Shrink the picture to the widest shown size, so that later steps are cheap."""
    image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    return resized(image, width) if image.width > width else image


def flat(image: Image.Image) -> Image.Image:
    """Put transparent parts on white."""
    image = image.convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(white, image).convert("RGB")


def encode(image: Image.Image, width: int) -> str:
    content = io.BytesIO()
    # Method 2 takes half the time of the default; files are 2 % larger.
    resized(image, min(width, image.width)).save(content, "WEBP", quality=82, method=2)
    return as_text(content.getvalue())


def resized(image: Image.Image, width: int) -> Image.Image:
    height = max(1, round(image.height * width / image.width))
    return image.resize((width, height), Image.Resampling.LANCZOS)


def blurred(image: Image.Image) -> bytes:
    """A tiny preview of a few hundred bytes."""
    content = io.BytesIO()
    tiny = image.resize((24, 24)).filter(ImageFilter.GaussianBlur(1))
    tiny.save(content, "WEBP", quality=40)
    return content.getvalue()


def as_text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def main() -> None:
    limit()
    widths = [int(width) for width in sys.argv[1:]]
    raw = sys.stdin.buffer.read()
    try:
        made = files(raw, widths)
    except Exception as error:  # Pillow's decoders and encoders raise all kinds of errors
        made = {"error": str(error) or type(error).__name__}
    json.dump(made, sys.stdout)


if __name__ == "__main__":
    main()
