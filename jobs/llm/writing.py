"""Who answers a request: the writer that LLM_PROVIDER chooses. Its answer is bought once."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from jobs.errors import OperatorsFault
from jobs.llm import answers, requests, writers
from jobs.paid import calls
from jobs.run import Run

# Sent with a request that names no limit, so that what is booked is the most it can cost.
USUAL_MAX_TOKENS = 8_192


def provider_name() -> str | None:
    """The writer's key in the table of providers. Pages ask for it: it needs no key and no SDK."""
    name = writers.chosen_name()
    model = writers.WRITERS[name].model if name in writers.WRITERS else ""
    return f"{name}:{model}" if model else name or None


def is_free() -> bool:
    name = writers.chosen_name()
    return name in writers.WRITERS and writers.WRITERS[name].is_free


def check_setup() -> None:
    if writers.chosen_name():
        writers.chosen().check_setup()


def answer(request_json: dict[str, Any], run: Run) -> dict[str, Any]:
    """The answer to a request: bought, or found in the store; then checked, whatever sent it."""
    try:
        writer = writers.chosen()
    except ImproperlyConfigured as error:
        raise OperatorsFault(reason=str(error)) from error
    provider = type(run.job).provider_name()
    assert provider
    request = {"max_tokens": USUAL_MAX_TOKENS, **request_json}
    bought = calls.buy(
        run,
        requests.payload_hash(request, provider),
        lambda timeout: writer.write(request, timeout),
        request={"form": "text", **request},
        most_tokens=(requests.most_input_tokens(request), request["max_tokens"]),
    )
    with calls.using(bought) as raw:
        return answers.checked(raw, request) | {"provider": provider}
