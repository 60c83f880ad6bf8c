"""The errors of a request to a paid service, with texts for people."""

from dataclasses import dataclass, field
from typing import TypeVar

from jobs.db.text import LONGEST as LONGEST_TEXT
from jobs.db.text import clean
from jobs.errors import (
    AnswerLost,
    BadRequest,
    GarbageAnswer,
    OperatorsFault,
    ProviderUnavailable,
    RequestRefused,
)

ErrorT = TypeVar("ErrorT", ProviderUnavailable, OperatorsFault, RequestRefused)

LONGEST_MESSAGE = 300
LONGEST_GARBAGE = 80
NOT_ASKED_FOR = "did not send what was asked for, but "

# Neither vendor bills a request that failed on the vendor's side. 521 to 523 come from
# Cloudflare, the proxy in front of OpenAI: it could not reach the service.
NOT_BILLED = {500, 503, 521, 522, 523}
# A proxy, or the service itself, stopped waiting for the answer.
STOPPED_WAITING = {408, 504, 524}
CONFLICTS = {409, 425}  # with another request at the same moment


@dataclass(frozen=True)
class Faults:
    """The errors of one request, each naming the service, the model and what to do."""

    service: str  # the name for people: Gemini
    model: str
    secret: str = field(repr=False)  # never shown, even if the service quotes it
    form: str = "picture"  # of what is asked for, or text

    @property
    def settings(self) -> str:
        """The prefix of its settings: GEMINI."""
        return self.service.upper()

    @property
    def model_setting(self) -> str:
        return f"{self.settings}_TEXT_MODEL" if self.form == "text" else f"{self.settings}_MODEL"

    def not_sent(self, reason: str) -> ProviderUnavailable:
        what = "could not be reached; nothing was sent"
        return ProviderUnavailable(reason=self.text(what, reason))

    def lost(self, reason: str) -> ProviderUnavailable:
        what = "received the request, but the answer was lost; the call may be billed"
        return AnswerLost(reason=self.text(what, reason))

    def garbage(self, what: str, body: str = "") -> Exception:
        return GarbageAnswer(self.text(f"{NOT_ASKED_FOR}{self.seen(what, body)}"))

    def seen(self, what: str, body: str) -> str:
        start = self.quote(body, LONGEST_GARBAGE)
        return f"{what}, beginning with {start!r}" if start else what

    def refused(self, reason: str, *, billed: bool) -> RequestRefused:
        what = "refused this because of its content policy; another wording may help"
        return charged(RequestRefused(self.text(what, reason)), billed)

    def operators(self, what: str, said: str, *, billed: bool = False) -> OperatorsFault:
        return charged(OperatorsFault(reason=self.text(what, said)), billed)

    def account(self, status: int, said: str) -> OperatorsFault:
        what = (
            f"has no credit or quota left for us ({status}); check the account's plan and billing"
        )
        return self.operators(what, said)

    def wrong_key(self, status: int, said: str) -> OperatorsFault:
        what = f"does not accept our key ({status}); check {self.settings}_API_KEY and its rights"
        return self.operators(what, said)

    def wrong_model(self, status: int, said: str) -> OperatorsFault:
        what = f"can't use this model ({status}); check {self.model_setting}"
        return self.operators(what, said)

    def from_status(self, status: int, wait: float | None, said: str) -> Exception:
        """The error for a status; clients look into the body first."""
        if status == 429:
            return ProviderUnavailable(
                wait, self.text("says that requests come too fast (429)", said)
            )
        if status in STOPPED_WAITING:
            return self.lost(f"{status} {said}")
        if status >= 500 or status in CONFLICTS:
            error = ProviderUnavailable(wait, self.text(f"is unavailable ({status})", said))
            # Other statuses, such as 502, may come from a proxy: the call may have been billed.
            return charged(error, billed=status not in NOT_BILLED | CONFLICTS)
        return self.from_refusal(status, said)

    def from_refusal(self, status: int, said: str) -> Exception:
        """The error for a status that a repeated request would get again."""
        if status in (401, 403):
            return self.wrong_key(status, said)
        if status == 402:
            return self.account(status, said)
        if status in (404, 410):
            what = f"knows no such model or address ({status}); check {self.model_setting}"
            return self.operators(f"{what} and {self.settings}_BASE_URL", said)
        if 300 <= status < 400 or status in (405, 407):
            what = f"is not at this address ({status}); check {self.settings}_BASE_URL"
            return self.operators(what, said)
        if status >= 400:
            return BadRequest(self.text(f"can't make sense of our request ({status})", said))
        return self.garbage(f"a status {status}", said)

    def text(self, what: str, said: str = "") -> str:
        said = self.quote(said, LONGEST_MESSAGE)
        return self.quote(f"{self.service} ({self.model}) {what}" + (f": {said}" if said else "."))

    def quote(self, text: str, longest: int = LONGEST_TEXT) -> str:
        """The beginning of a text, on one line, without the API key."""
        hidden = text.replace(self.secret, "(key)") if self.secret else text
        start = hidden[: longest * 4]
        printable = "".join(letter if letter.isprintable() else " " for letter in start)
        return clean(" ".join(printable.split())[:longest])


class CreationFaults(Faults):
    """The errors of creating a batch. In doubt it exists, and can be looked for in the list."""

    def garbage(self, what: str, body: str = "") -> Exception:
        return self.lost(f"it sent {self.seen(what, body)}")

    def from_status(self, status: int, wait: float | None, said: str) -> Exception:
        if status >= 500:
            return self.lost(f"{status} {said}")
        return super().from_status(status, wait, said)


class FreeFaults(Faults):
    """The errors of what certainly costs nothing: looking at a batch, a line that failed."""

    def lost(self, reason: str) -> ProviderUnavailable:
        return ProviderUnavailable(reason=self.text("did not answer; nothing was bought", reason))

    def garbage(self, what: str, body: str = "") -> Exception:
        return ProviderUnavailable(reason=self.text(f"{NOT_ASKED_FOR}{self.seen(what, body)}"))

    def from_status(self, status: int, wait: float | None, said: str) -> Exception:
        error = super().from_status(status, wait, said)
        return charged(error, billed=False) if isinstance(error, ProviderUnavailable) else error


def charged(error: ErrorT, billed: bool) -> ErrorT:
    """Set whether the call behind this error may have been billed; returns the error."""
    error.billed = billed
    return error
