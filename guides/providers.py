"""Who makes pictures: one small class each, chosen by IMAGE_PROVIDER."""

import hashlib
import json
import time
from dataclasses import asdict, dataclass
from typing import Protocol

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from guides import painter

# A tag for demonstrations: the painter refuses such a spot until the tag is taken away.
UNPAINTABLE = "unpaintable"


@dataclass(frozen=True, kw_only=True)
class PictureRequest:
    """Everything that decides what the picture will be."""

    provider: str
    model: str
    prompt: str
    name: str
    description: str
    tags: tuple[str, ...]
    place: str
    generation: int = 0
    size: int = 1024

    @property
    def payload_hash(self) -> str:
        """The same hash is the same picture: nothing new is made, nothing is paid again."""
        canonical = json.dumps(asdict(self), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(canonical.encode()).hexdigest()


class Provider(Protocol):
    name: str
    model: str

    def draw(self, request: PictureRequest) -> bytes:
        """Return the picture as it came: PNG, JPEG or WebP, unchecked."""


class Painter:
    """Draws by itself: no key, no network, no cost."""

    name = "painter"
    model = ""

    def draw(self, request: PictureRequest) -> bytes:
        if UNPAINTABLE in request.tags:
            raise ValueError(
                f"The painter can't paint {request.name!r}: it is tagged {UNPAINTABLE}."
            )
        time.sleep(settings.PAINTER_SECONDS)
        return painter.paint(request.name, request.description, request.tags, request.place)


PROVIDERS: dict[str, type[Provider]] = {"painter": Painter}


def chosen() -> Provider:
    try:
        return PROVIDERS[settings.IMAGE_PROVIDER]()
    except KeyError:
        raise ImproperlyConfigured(
            f"IMAGE_PROVIDER={settings.IMAGE_PROVIDER}: known are {', '.join(PROVIDERS)}."
        ) from None
