"""The makers of pictures: one small class each, chosen by IMAGE_PROVIDER."""

import hashlib
import json
import threading
import time
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Protocol

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from guides import painter
from jobs.paid.clients import Answer, services

# A tag for demonstrations: the painter refuses a spot that has it.
UNPAINTABLE = "unpaintable"
# Each takes 40 MB. Most of it is Python, which runs in one thread at a time: more would only wait.
EASELS = threading.BoundedSemaphore(2)


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
        """Requests with the same hash share one picture: it is made and paid once."""
        canonical = json.dumps(asdict(self), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(canonical.encode()).hexdigest()


class Maker(Protocol):
    """A maker of pictures. Its client is made on first use: pages need its name, not its key."""

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def is_free(self) -> bool: ...

    def check_setup(self) -> None:
        """Raise ImproperlyConfigured if something it needs is missing."""

    def draw(self, request: PictureRequest, timeout: float) -> Answer:
        """Send one request; return the picture as it came: PNG, JPEG or WebP, unchecked."""


class Painter:
    """Draws by itself: no key, no network, no cost."""

    name = "painter"
    model = ""
    is_free = True

    def check_setup(self) -> None: ...

    def draw(self, request: PictureRequest, timeout: float) -> Answer:
        if UNPAINTABLE in request.tags:
            raise Unpaintable(
                f"The painter can't paint {request.name!r}: it is tagged {UNPAINTABLE}."
            )
        time.sleep(settings.PAINTER_SECONDS)
        style = " ".join(filter(None, [request.style, str(request.generation or "")]))
        with EASELS:
            raw = painter.paint(
                request.name, request.description, request.tags, request.place, style
            )
        return Answer(raw=raw)


class Unpaintable(Exception):
    """For demonstrations: a provider's fault with one spot."""

    billed = False


class Gemini:
    name = "gemini"
    is_free = False

    @property
    def model(self) -> str:
        return str(settings.GEMINI_MODEL)

    def check_setup(self) -> None:
        services.gemini().sdk  # noqa: B018 (loaded now, not between a call's intent and its request)

    def draw(self, request: PictureRequest, timeout: float) -> Answer:
        return services.gemini().picture(request.model, request.prompt, timeout)


class OpenAI:
    name = "openai"

    @property
    def is_free(self) -> bool:
        return services.is_local(self.name)

    @property
    def model(self) -> str:
        return str(settings.OPENAI_MODEL)

    def check_setup(self) -> None:
        services.openai().sdk  # noqa: B018

    def draw(self, request: PictureRequest, timeout: float) -> Answer:
        return services.openai().picture(request.model, request.prompt, timeout)


MAKERS: dict[str, type[Maker]] = {"painter": Painter, "gemini": Gemini, "openai": OpenAI}


@lru_cache
def made(name: str) -> Maker:
    """One maker of each kind per process: the threads share its client's connections."""
    try:
        return MAKERS[name]()
    except KeyError:
        known = ", ".join(MAKERS)
        raise ImproperlyConfigured(f"IMAGE_PROVIDER={name}: known are {known}.") from None


def chosen() -> Maker:
    return made(settings.IMAGE_PROVIDER)


def full_name() -> str:
    """The maker's key in the table of providers: service:model, or only the service."""
    maker = chosen()
    return f"{maker.name}:{maker.model}" if maker.model else maker.name
