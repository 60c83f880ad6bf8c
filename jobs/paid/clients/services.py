"""The clients of paid services, one of each kind per process: its threads share connections."""

from functools import lru_cache
from typing import Any

from django.conf import settings


@lru_cache
def service(name: str) -> Any:
    raise NotImplementedError(name)


def is_local(name: str) -> bool:
    """Whether it is a server of one's own, which needs no key and costs nothing."""
    return name == "openai" and bool(settings.OPENAI_BASE_URL) and not settings.OPENAI_API_KEY
