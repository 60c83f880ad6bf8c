"""The writers: who answers requests. LLM_PROVIDER chooses one by its name."""

from typing import Any, Protocol

from django.core.exceptions import ImproperlyConfigured

from jobs import settings
from jobs.paid.clients import Answer, services


class Writer(Protocol):
    """A writer. It creates its client on first use: pages need its name, not its key."""

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def is_free(self) -> bool: ...

    def check_setup(self) -> None:
        """Raise ImproperlyConfigured if something it needs is missing."""

    def write(self, request: dict[str, Any], timeout: float) -> Answer:
        """Send one request, once. The answer is JSON: text, finish, refusal, model, tokens."""


class Service:
    """A paid service, or a local server that speaks as one."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def model(self) -> str:
        return str(getattr(settings, f"{self.name.upper()}_TEXT_MODEL", ""))

    @property
    def is_free(self) -> bool:
        return services.is_local(self.name)

    def check_setup(self) -> None:
        if not self.model:
            raise ImproperlyConfigured(f"{self.name.upper()}_TEXT_MODEL is not set.")
        services.service(self.name).sdk  # noqa: B018 (loaded now, not while a call is under way)

    def write(self, request: dict[str, Any], timeout: float) -> Answer:
        answer: Answer = services.service(self.name).text(self.model, request, timeout)
        return answer


WRITERS: dict[str, Writer] = {name: Service(name) for name in ("gemini", "openai")}


def register(name: str, writer: Writer) -> None:
    """Make a writer of another app known; `AppConfig.ready` is the place for it."""
    WRITERS[name] = writer


def chosen_name() -> str:
    """Empty in a project that asks no language model."""
    return str(settings.LLM_PROVIDER)


def chosen() -> Writer:
    name = chosen_name()
    if name not in WRITERS:
        known = ", ".join(WRITERS)
        raise ImproperlyConfigured(f"LLM_PROVIDER={name}: known are {known}.")
    return WRITERS[name]
