"""The paid services, as the settings describe them: one client each per worker process."""

from collections.abc import Callable
from functools import lru_cache

from django.core.exceptions import ImproperlyConfigured

from jobs import settings
from jobs.paid.clients.batch import BatchClient
from jobs.paid.clients.gemini import Gemini
from jobs.paid.clients.gemini_batches import GeminiBatches
from jobs.paid.clients.openai import OpenAI
from jobs.paid.clients.openai_batches import OpenAIBatches


def gemini() -> Gemini:
    return _gemini(settings.GEMINI_API_KEY, settings.GEMINI_BASE_URL)


def openai() -> OpenAI:
    return _openai(settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL)


# Threads share a client's connections; other settings make another client.
_gemini = lru_cache(Gemini)
_openai = lru_cache(OpenAI)

CLIENTS: dict[str, Callable[[], Gemini | OpenAI]] = {"gemini": gemini, "openai": openai}


def service(name: str) -> Gemini | OpenAI:
    """The client of a service; raises ImproperlyConfigured if something is missing."""
    try:
        made = CLIENTS[name]
    except KeyError:
        known = ", ".join(CLIENTS)
        raise ImproperlyConfigured(f"There is no service {name}: known are {known}.") from None
    return made()


def split(provider_name: str) -> tuple[str, str]:
    """The service and the model of a provider's name."""
    name, _, model = provider_name.partition(":")
    return name, model


def is_local(name: str) -> bool:
    """Whether the service is a server of our own: no key, no batches, no cost."""
    has_key = bool(settings.OPENAI_API_KEY.strip())
    return name == "openai" and bool(settings.OPENAI_BASE_URL.strip()) and not has_key


def has_batches(provider_name: str) -> bool:
    """Whether its calls can be made in batches, as far as the settings tell."""
    name, _ = split(provider_name)
    return name in CLIENTS and not is_local(name)


def batch_client(provider_name: str) -> BatchClient | None:
    """The client for batches of this provider; None if it has none."""
    if not has_batches(provider_name):
        return None
    name, _ = split(provider_name)
    return GeminiBatches(gemini()) if name == "gemini" else OpenAIBatches(openai())
