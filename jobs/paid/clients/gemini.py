"""Gemini, through google-genai."""

import re
import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jobs.paid.clients import MOST_BYTES, Answer, gemini_forms, setup
from jobs.paid.clients.declined import Declined, seconds
from jobs.paid.clients.faults import Faults

if TYPE_CHECKING:
    import httpx2
    from google import genai
    from google.genai import types

# Only these words of Google's message show that waiting won't help. Other words prove nothing:
# every 429 asks to "check your plan and billing details".
ACCOUNT_EMPTY = re.compile(r"(?i)limit: 0\b|credits are depleted|spend(ing)? cap|free quota tier")
# When a daily quota is used up, Google still asks for a wait of seconds. The quota returns at
# midnight in California, or when an operator pays. Trying once an hour is often enough.
DAILY_QUOTA_WAIT = 3600.0


HOST = "https://generativelanguage.googleapis.com"


class Gemini:
    """Sends requests to Gemini, each once. Threads may share it."""

    version = "v1"  # of the API, as in the SDK

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
        return self.ask(model, {"form": "picture", "prompt": prompt}, timeout)

    def text(self, model: str, request: dict[str, Any], timeout: float) -> Answer:
        """Ask for words; the answer's bytes are those of `written`."""
        return self.ask(model, {**request, "form": "text"}, timeout)

    def ask(self, model: str, request: dict[str, Any], timeout: float) -> Answer:
        """Send a request of either form."""
        from google.genai import types

        body = gemini_forms.body(request)
        config = types.GenerateContentConfig.model_validate(
            {**body["generationConfig"], "systemInstruction": body.get("systemInstruction")}
        )
        faults = self.faults(model, request["form"])
        return gemini_forms.read(faults, self.generate(faults, body["contents"], timeout, config))

    def generate(
        self,
        faults: Faults,
        contents: "types.ContentListUnionDict",
        timeout: float,
        config: "types.GenerateContentConfig",
    ) -> "types.GenerateContentResponse":
        """Send one request of any kind; returns its response within `timeout` seconds."""
        with self.lock:  # the first thread imports and connects, the others wait for it
            sdk = self.sdk
        from jobs.paid.clients import http

        with http.mapped(faults, declined):
            return sdk.models.generate_content(
                model=faults.model, contents=contents, config=once(config, timeout)
            )

    def faults(self, model: str, form: str) -> Faults:
        return Faults("Gemini", model, self.api_key, form)

    @cached_property
    def sdk(self) -> "genai.Client":
        from google import genai
        from google.genai import types

        # vertexai=False: otherwise environment variables of other programs would decide.
        return genai.Client(
            api_key=self.api_key,
            vertexai=False,
            http_options=types.HttpOptions(base_url=self.base_url or None, httpx_client=self.http),
        )

    @property
    def root(self) -> str:
        return (self.base_url or HOST).rstrip("/")

    @property
    def api(self) -> str:
        """The address of requests that the SDK does not make for us."""
        return f"{self.root}/{self.version}"

    @cached_property
    def http(self) -> "httpx2.Client":
        from jobs.paid.clients import http

        return http.Client(self.most_bytes)


def once(config: "types.GenerateContentConfig", timeout: float) -> "types.GenerateContentConfig":
    """The same config for exactly one request: it turns off three features that send more."""
    from google.genai import types

    return config.model_copy(
        update={
            "automatic_continuation": False,
            "automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True),
            "http_options": types.HttpOptions(
                timeout=max(int(timeout * 1000), 1),
                retry_options=types.HttpRetryOptions(attempts=1),
            ),
        }
    )


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
