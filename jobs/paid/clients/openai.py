"""OpenAI, through its own package."""

import base64
import threading
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from jobs.db.text import clean
from jobs.paid.clients import MOST_BYTES, Answer, setup
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


class OpenAI:
    """Sends requests to OpenAI, each once. Threads may share it."""

    def __init__(self, api_key: str, base_url: str = "", most_bytes: int = MOST_BYTES) -> None:
        self.api_key = api_key.strip()
        self.base_url = base_url
        self.most_bytes = most_bytes
        self.lock = threading.Lock()
        setup.check(
            "openai", module="openai", package="openai", api_key=self.api_key, base_url=base_url
        )

    def picture(self, model: str, prompt: str, timeout: float) -> Answer:
        """Ask for one picture."""
        # No response_format: current models refuse it and always send b64_json.
        images = self.request(
            model,
            lambda sdk: sdk.images.generate(
                model=model, prompt=prompt, n=1, size="1024x1024", timeout=timeout
            ),
        )
        data = images.data
        # The SDK checks no types: `data` may be anything that the service sent.
        image = data[0] if isinstance(data, list) and data else None
        raw = self.decoded(model, image)
        return Answer(raw=raw, remote_id=clean(images._request_id or "", 200))

    def request(self, model: str, call: "Callable[[openai.OpenAI], ResponseT]") -> ResponseT:
        """Send one request, of any kind; `call` must name its timeout."""
        with self.lock:  # the first thread imports and connects, the others wait for it
            sdk = self.sdk
        from jobs.paid.clients import http

        with http.mapped(self.faults(model), declined):
            return call(sdk)

    def decoded(self, model: str, image: object) -> bytes:
        """The picture's bytes. A link is not followed: it could lead anywhere."""
        encoded, link = getattr(image, "b64_json", None), getattr(image, "url", None)
        faults = self.faults(model)
        if not encoded and link:
            what = (
                "sends links instead of pictures, which cost as much; choose another OPENAI_MODEL"
            )
            raise faults.operators(what, str(link), billed=True)
        if not encoded:
            raise faults.garbage("an answer without a picture", str(image or ""))
        try:
            return base64.b64decode(encoded, validate=True)
        except (ValueError, TypeError):
            raise faults.garbage("broken base64", str(encoded)[:200]) from None

    def faults(self, model: str) -> Faults:
        return Faults("OpenAI", model, self.api_key)

    @cached_property
    def sdk(self) -> "openai.OpenAI":
        import openai

        from jobs.paid.clients import http

        return openai.OpenAI(
            api_key=self.api_key,
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
