"""Who makes pictures: one small class each, chosen by IMAGE_PROVIDER."""

import hashlib
import json
import time
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Protocol

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from guides import painter
from jobs.clients import Answer
from jobs.errors import GarbageAnswer

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
    style: str = ""
    generation: int = 0
    size: int = 1024

    @property
    def payload_hash(self) -> str:
        """The same hash is the same picture: nothing new is made, nothing is paid again."""
        canonical = json.dumps(asdict(self), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(canonical.encode()).hexdigest()


class Provider(Protocol):
    """`draw` sends one request and returns the picture as it came: PNG, JPEG or WebP."""

    name: str
    model: str

    def draw(self, request: PictureRequest, timeout: float) -> Answer: ...


class Painter:
    """Draws by itself: no key, no network, no cost."""

    name = "painter"
    model = ""

    def draw(self, request: PictureRequest, timeout: float) -> Answer:
        if UNPAINTABLE in request.tags:
            raise Unpaintable(
                f"The painter can't paint {request.name!r}: it is tagged {UNPAINTABLE}."
            )
        time.sleep(settings.PAINTER_SECONDS)
        style = " ".join(filter(None, [request.style, str(request.generation or "")]))
        return Answer(
            raw=painter.paint(request.name, request.description, request.tags, request.place, style)
        )


class Unpaintable(GarbageAnswer):
    """For demonstrations: what a provider's fault with one spot looks like."""

    billed = False


class Gemini:
    name = "gemini"

    def __init__(self) -> None:
        self.model = settings.GEMINI_MODEL
        self.client: Any = None  # XXX

    def draw(self, request: PictureRequest, timeout: float) -> Answer:
        return self.client.picture(request.model, request.prompt, timeout)


class OpenAI:
    name = "openai"

    def __init__(self) -> None:
        self.model = settings.OPENAI_MODEL
        self.client: Any = None  # XXX

    def draw(self, request: PictureRequest, timeout: float) -> Answer:
        return self.client.picture(request.model, request.prompt, timeout)


PROVIDERS: dict[str, type[Provider]] = {"painter": Painter, "gemini": Gemini, "openai": OpenAI}


@lru_cache
def made(name: str) -> Provider:
    """One of each per process: its threads share the client's connections."""
    try:
        return PROVIDERS[name]()
    except KeyError:
        known = ", ".join(PROVIDERS)
        raise ImproperlyConfigured(f"IMAGE_PROVIDER={name}: known are {known}.") from None


def chosen() -> Provider:
    return made(settings.IMAGE_PROVIDER)


def full_name() -> str:
    """As its row in `providers` is called: service:model, or only the service."""
    provider = chosen()
    return f"{provider.name}:{provider.model}" if provider.model else provider.name
