"""OpenAI, through its own package."""

import threading
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from jobs.paid.clients import MOST_BYTES, Answer, openai_forms, setup
from jobs.paid.clients.declined import Declined, seconds
from jobs.paid.clients.faults import Faults

if TYPE_CHECKING:
    import openai

ResponseT = TypeVar("ResponseT")

REFUSALS = {"moderation_blocked", "content_policy_violation"}
# They come with status 429, 400 or 403. Only an operator can fix the account.
ACCOUNT_EMPTY = {
    "billing_hard_limit_reached",
    "billing_not_active",
    "insufficient_quota",
}


# A local server wants no key, but the SDK does.
NO_KEY = "no-key-needed"


class OpenAI:
    """Sends requests to OpenAI, each once. Threads may share it.

    An address without a key is a local server with the same protocol: free, and without batches.
    """

    def __init__(self, api_key: str, base_url: str = "", most_bytes: int = MOST_BYTES) -> None:
        self.api_key = api_key.strip()
        self.base_url = base_url.strip()
        self.is_local = bool(self.base_url) and not self.api_key
        self.most_bytes = most_bytes
        self.lock = threading.Lock()
        setup.check(
            "openai",
            module="openai",
            package="openai",
            api_key=self.api_key or (NO_KEY if self.is_local else ""),
            base_url=self.base_url,
        )

    def picture(self, model: str, prompt: str, timeout: float) -> Answer:
        """Ask for one picture."""
        body = openai_forms.body(model, {"form": "picture", "prompt": prompt})
        faults = self.faults(model, "picture")
        images = self.request(faults, lambda sdk: sdk.images.generate(**body, timeout=timeout))
        return openai_forms.picture(faults, images, images._request_id or "")

    def text(self, model: str, request: dict[str, Any], timeout: float) -> Answer:
        """Ask for words; the answer's bytes are those of `written`."""
        body = openai_forms.body(model, {**request, "form": "text"}, is_local=self.is_local)
        faults = self.faults(model, "text")
        completion = self.request(
            faults, lambda sdk: sdk.chat.completions.create(**body, timeout=timeout)
        )
        return openai_forms.text(faults, completion, completion._request_id or "")

    def request(
        self,
        faults: Faults,
        call: "Callable[[openai.OpenAI], ResponseT]",
        refused: Callable[[Faults, Declined], Exception] | None = None,
    ) -> ResponseT:
        """Send one request, of any kind; `call` must name its timeout."""
        with self.lock:  # the first thread imports and connects, the others wait for it
            sdk = self.sdk
        from jobs.paid.clients import http

        with http.mapped(faults, refused or declined):
            return call(sdk)

    def faults(self, model: str, form: str) -> Faults:
        return Faults("OpenAI", model, self.api_key, form)

    @cached_property
    def sdk(self) -> "openai.OpenAI":
        import openai

        from jobs.paid.clients import http

        return openai.OpenAI(
            api_key=self.api_key or NO_KEY,
            base_url=self.base_url or None,
            max_retries=0,
            http_client=http.Client(self.most_bytes),
        )


def declined(faults: Faults, answer: Declined) -> Exception:
    """The error for OpenAI's answer. The body comes first: most errors are a 400."""
    status, said = answer.status, answer.message
    codes = {str(answer.error.get("code")), str(answer.error.get("type"))}
    if codes & REFUSALS:
        return faults.refused(said, billed=False)
    if codes & ACCOUNT_EMPTY:
        return faults.account(status, said)
    if "invalid_api_key" in codes:
        return faults.wrong_key(status, said)
    if "model_not_found" in codes or (status == 400 and answer.error.get("param") == "model"):
        return faults.wrong_model(status, said)
    return faults.from_status(status, wait(answer), said)


def wait(answer: Declined) -> float | None:
    """The seconds to wait. OpenAI also sends milliseconds, which are more exact."""
    exact = seconds(answer.headers.get("retry-after-ms"))
    return answer.retry_after if exact is None else exact / 1000
