"""Gemini's words for a request, and the reading of its responses."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jobs.db.text import clean
from jobs.paid.clients import Answer
from jobs.paid.clients.faults import Faults
from jobs.paid.clients.written import count, written

if TYPE_CHECKING:
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
FINISHES = {"STOP": "stop", "MAX_TOKENS": "length", **dict.fromkeys(REFUSALS, "refused")}
ROLES = {"user": "user", "assistant": "model"}


def body(request: dict[str, Any]) -> dict[str, Any]:
    """The request on the wire: alone or in the line of a batch."""
    if request["form"] == "picture":
        config: dict[str, Any] = {"responseModalities": ["IMAGE"]}
    else:
        config = text_config(request)
    said = request.get("messages") or [{"role": "user", "content": request["prompt"]}]
    asked: dict[str, Any] = {
        "contents": [
            {"role": ROLES[message["role"]], "parts": [{"text": message["content"]}]}
            for message in said
        ],
        "generationConfig": config,
    }
    if request.get("system"):
        asked["systemInstruction"] = {"parts": [{"text": request["system"]}]}
    return asked


def text_config(request: dict[str, Any]) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if request.get("schema"):
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = request["schema"]
    if request.get("max_tokens") is not None:
        config["maxOutputTokens"] = request["max_tokens"]
    if request.get("temperature") is not None:
        config["temperature"] = request["temperature"]
    return config


def read(faults: Faults, response: "types.GenerateContentResponse") -> Answer:
    """The answer in a response; raises why there is none."""
    feedback = response.prompt_feedback
    if not response.candidates and feedback and feedback.block_reason:
        raise faults.refused(name(feedback.block_reason), billed=False)
    return READERS[faults.form](faults, response)


def picture(faults: Faults, response: "types.GenerateContentResponse") -> Answer:
    for part in parts(response):
        if raw := picture_in(part):
            came_in, went_out = tokens(response)
            return Answer(
                raw=raw,
                remote_id=clean(response.response_id or "", 200),
                input_tokens=came_in,
                output_tokens=went_out,
            )
    raise no_picture(faults, response)


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
    said = words(response)
    return faults.garbage(f"an answer without a picture ({finish or 'no candidate'})", said)


def text(faults: Faults, response: "types.GenerateContentResponse") -> Answer:
    """The words of an answer. How it ended is told, not judged."""
    if not response.candidates:
        raise faults.garbage("an answer without words (no candidate)")
    ended = name(response.candidates[0].finish_reason)
    finish = FINISHES.get(ended, ended.lower())
    reason = response.candidates[0].finish_message or ended
    came_in, went_out = tokens(response)
    return written(
        text=words(response),
        finish=finish,
        refusal=reason if finish == "refused" else "",
        model=response.model_version or faults.model,
        input_tokens=came_in,
        output_tokens=went_out,
        remote_id=response.response_id or "",
    )


READERS: dict[str, Callable[[Faults, "types.GenerateContentResponse"], Answer]] = {
    "picture": picture,
    "text": text,
}


def parts(response: "types.GenerateContentResponse") -> "list[types.Part]":
    """The parts of the first candidate; empty if there is none."""
    content = response.candidates[0].content if response.candidates else None
    return (content.parts if content else None) or []


def words(response: "types.GenerateContentResponse") -> str:
    """The text of an answer, without a thinking model's thoughts."""
    return "".join(part.text for part in parts(response) if part.text and not part.thought)


def tokens(response: "types.GenerateContentResponse") -> tuple[int | None, int | None]:
    """Tokens read and written; thoughts are billed as written."""
    usage = response.usage_metadata
    if usage is None:
        return None, None
    spoken, thought = count(usage.candidates_token_count), count(usage.thoughts_token_count)
    went_out = None if spoken is None and thought is None else (spoken or 0) + (thought or 0)
    return count(usage.prompt_token_count), went_out


def name(reason: object) -> str:
    """The reason as text, e.g. SAFETY, even if the SDK doesn't know it."""
    return str(getattr(reason, "value", reason or ""))
