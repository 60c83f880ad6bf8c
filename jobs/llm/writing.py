"""Who answers a request: the writer that LLM_PROVIDER chooses."""

from typing import Any

from jobs.run import Run


def provider_name() -> str:
    return "scribe"


def is_free() -> bool:
    return True


def check_setup() -> None: ...


def answer(request: dict[str, Any], run: Run) -> dict[str, Any]:
    raise NotImplementedError
