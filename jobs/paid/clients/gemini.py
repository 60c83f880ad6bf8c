"""Gemini, through google-genai."""

import re
import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jobs.db.text import clean
from jobs.paid.clients import MOST_BYTES, Answer, setup
from jobs.paid.clients.declined import Declined, seconds
from jobs.paid.clients.faults import Faults

if TYPE_CHECKING:
    from google import genai
    from google.genai import types

REFUSALS = {
    "BLOCKLIST",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "IMAGE_SAFETY",
    "LANGUAGE",
    "PROHIBITED_CONTENT",
    "RECITATION",
    "SAFETY",
    "SPII",
}
# Only these words of Google's message show that waiting won't help. Other words prove nothing:
# every 429 asks to "check your plan and billing details".
ACCOUNT_EMPTY = re.compile(r"(?i)limit: 0\b|credits are depleted|spend(ing)? cap|free quota tier")
# When a daily quota is used up, Google still asks for a wait of seconds. The quota returns at
# midnight in California, or when an operator pays. Trying once an hour is often enough.
DAILY_QUOTA_WAIT = 3600.0


class Gemini:
    """Sends requests to Gemini, each once. Threads may share it."""

    def __init__(self, api_key: str, base_url: str = "", most_bytes: int = MOST_BYTES) -> None:
        self.api_key = api_key.strip()
        self.base_url = base_url
        self.most_bytes = most_bytes
        self.lock = threading.Lock()
        setup.check(
            "gemini",
            module="google.genai",
            package="google-genai",
            api_key=self.api_key,
            base_url=base_url,
        )

    def picture(self, model: str, prompt: str, timeout: float) -> Answer:
        """Ask for one picture."""
        from google.genai import types

        config = types.GenerateContentConfig(response_modalities=["IMAGE"])
        response = self.generate(model, prompt, timeout, config)
        for part in parts(response):
            if raw := picture_in(part):
                return Answer(raw=raw, remote_id=clean(response.response_id or "", 200))
        raise no_picture(self.faults(model), response)

    def generate(
        self,
        model: str,
        contents: "types.ContentListUnionDict",
        timeout: float,
        config: "types.GenerateContentConfig | None" = None,
    ) -> "types.GenerateContentResponse":
        """Send one request of any kind; returns its answer within `timeout` seconds."""
        with self.lock:  # the first thread imports and connects, the others wait for it
            sdk = self.sdk
        from jobs.paid.clients import http

        faults = self.faults(model)
        with http.mapped(faults, declined):
            response = sdk.models.generate_content(
                model=model, contents=contents, config=once(config, timeout)
            )
        feedback = response.prompt_feedback
        if not response.candidates and feedback and feedback.block_reason:
            raise faults.refused(name(feedback.block_reason), billed=False)
        return response

    def faults(self, model: str) -> Faults:
        return Faults("Gemini", model, self.api_key)

    @cached_property
    def sdk(self) -> "genai.Client":
        from google import genai
        from google.genai import types

        from jobs.paid.clients import http

        # vertexai=False: otherwise environment variables of other programs would decide.
        return genai.Client(
            api_key=self.api_key,
            vertexai=False,
            http_options=types.HttpOptions(
                base_url=self.base_url or None, httpx_client=http.Client(self.most_bytes)
            ),
        )


def once(
    config: "types.GenerateContentConfig | None", timeout: float
) -> "types.GenerateContentConfig":
    """The same config for exactly one request: it turns off three features that send more."""
    from google.genai import types

    return (config or types.GenerateContentConfig()).model_copy(
        update={
            "automatic_continuation": False,
            "automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True),
            "http_options": types.HttpOptions(
                timeout=max(int(timeout * 1000), 1),
                retry_options=types.HttpRetryOptions(attempts=1),
            ),
        }
    )


def parts(response: "types.GenerateContentResponse") -> "list[types.Part]":
    """The parts of the first candidate; empty if there is none."""
    content = response.candidates[0].content if response.candidates else None
    return (content.parts if content else None) or []


def picture_in(part: "types.Part") -> bytes | None:
    """The picture in this part, unless it is a thinking model's draft."""
    blob = part.inline_data
    if part.thought or not blob or not (blob.mime_type or "").startswith("image/"):
        return None
    return blob.data


def no_picture(faults: Faults, response: "types.GenerateContentResponse") -> Exception:
    """Why there is no picture: refused half-way, which is billed, or an unknown reason."""
    finish = name(response.candidates[0].finish_reason) if response.candidates else ""
    if finish in REFUSALS:
        return faults.refused(finish, billed=True)
    text = " ".join(part.text for part in parts(response) if part.text)
    return faults.garbage(f"an answer without a picture ({finish or 'no candidate'})", text)


def name(reason: object) -> str:
    """The reason as text, e.g. SAFETY, even if the SDK doesn't know it."""
    return str(getattr(reason, "value", reason or ""))


def declined(faults: Faults, answer: Declined) -> Exception:
    """The error for Google's answer. The body comes first: the status says too little."""
    status, said = answer.status, answer.message
    if status == 400 and any(text(d, "reason").startswith("API_KEY_") for d in details(answer)):
        return faults.wrong_key(status, said)
    if status == 400 and answer.error.get("status") == "FAILED_PRECONDITION":
        what = f"refuses this account ({status}); check the account's country, plan and billing"
        return faults.operators(what, said)
    if status == 400 and "response modalities" in said.lower():
        return faults.wrong_model(status, said)
    if status == 429 and account_is_empty(answer):
        return faults.account(status, said)
    return faults.from_status(status, wait(answer), said)


def account_is_empty(answer: Declined) -> bool:
    """Whether this 429 is permanent: no credit, or a model that the free tier excludes.

    Google's JSON leaves out zeros, so a limit of 0 is missing. Limits of paid tiers are
    sometimes missing too, so a missing limit counts only in a quota of the free tier.
    """
    nothing_free = any(
        text(violation, "quotaId").endswith("-FreeTier")
        and seconds(violation.get("quotaValue", 0)) == 0
        for violation in violations(answer)
    )
    return nothing_free or bool(ACCOUNT_EMPTY.search(answer.message))


def wait(answer: Declined) -> float | None:
    """The seconds from the header or from Google's RetryInfo; an hour for a daily quota."""
    if any("PerDay" in text(violation, "quotaId") for violation in violations(answer)):
        return DAILY_QUOTA_WAIT
    asked = (seconds(d["retryDelay"]) for d in details(answer) if "retryDelay" in d)
    return answer.retry_after if answer.retry_after is not None else next(asked, None)


def violations(answer: Declined) -> list[dict[str, Any]]:
    return [found for d in details(answer) for found in dicts(d.get("violations"))]


def details(answer: Declined) -> list[dict[str, Any]]:
    return dicts(answer.error.get("details"))


def dicts(found: object) -> list[dict[str, Any]]:
    """The dicts in a value from outside; empty if it is not a list."""
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def text(found: dict[str, Any], key: str) -> str:
    return str(found.get(key, ""))
