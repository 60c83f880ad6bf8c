"""OpenAI's words for a request, and the reading of its responses."""

import base64
from typing import TYPE_CHECKING, Any

from jobs.db.text import clean
from jobs.paid.clients import Answer
from jobs.paid.clients.faults import Faults
from jobs.paid.clients.written import count, written

if TYPE_CHECKING:
    from openai.types import ImagesResponse
    from openai.types.chat import ChatCompletion

ENDPOINTS = {"picture": "/v1/images/generations", "text": "/v1/chat/completions"}
FINISHES = {"content_filter": "refused"}

# What strict mode knows of JSON Schema.
STRICT = {
    *("$defs", "$ref", "additionalProperties", "anyOf", "const", "definitions", "description"),
    *("enum", "exclusiveMaximum", "exclusiveMinimum", "format", "items", "maxItems", "maximum"),
    *("minItems", "minimum", "multipleOf", "pattern", "properties", "required", "title", "type"),
}


def body(model: str, request: dict[str, Any], *, is_local: bool = False) -> dict[str, Any]:
    """The request on the wire: alone or in the line of a batch."""
    if request["form"] == "picture":
        # No response_format: current models refuse it and always send b64_json.
        return {"model": model, "prompt": request["prompt"], "n": 1, "size": "1024x1024"}
    asked: dict[str, Any] = {"model": model, "messages": messages(request)}
    if request.get("schema"):
        asked["response_format"] = response_format(request["schema"])
    if request.get("max_tokens") is not None:
        # Reasoning models refuse max_tokens; local servers may know nothing else.
        limit = "max_tokens" if is_local else "max_completion_tokens"
        asked[limit] = request["max_tokens"]
    if request.get("temperature") is not None:
        asked["temperature"] = request["temperature"]
    return asked


def messages(request: dict[str, Any]) -> list[dict[str, str]]:
    said = request.get("messages") or [{"role": "user", "content": request["prompt"]}]
    system = request.get("system")
    return [*([{"role": "system", "content": system}] if system else []), *said]


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    told = {"name": "answer", "schema": schema, "strict": fits_strict(schema)}
    return {"type": "json_schema", "json_schema": told}


def fits_strict(schema: dict[str, Any]) -> bool:
    """Whether strict mode accepts this schema; it would refuse the request otherwise."""
    return schema.get("type") == "object" and "anyOf" not in schema and is_strict(schema)


def is_strict(schema: object) -> bool:
    if not isinstance(schema, dict) or not schema.keys() <= STRICT:
        return False
    properties = schema.get("properties", {})
    if "object" in as_list(schema.get("type")) or properties:
        is_closed = schema.get("additionalProperties") is False
        if not is_closed or set(schema.get("required", [])) != set(properties):
            return False
    named = [*properties.values(), *schema.get("$defs", {}).values()]
    named += schema.get("definitions", {}).values()
    listed = [*schema.get("anyOf", []), *as_list(schema.get("items"))]
    return all(is_strict(part) for part in [*named, *listed])


def as_list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [] if found is None else [found]


# The SDK checks no types: every field may be anything that the service sent.


def picture(faults: Faults, images: "ImagesResponse", remote_id: str) -> Answer:
    data: object = images.data
    image = data[0] if isinstance(data, list) and data else None
    usage = getattr(images, "usage", None)
    return Answer(
        raw=decoded(faults, image),
        remote_id=clean(remote_id, 200),
        input_tokens=count(getattr(usage, "input_tokens", None)),
        output_tokens=count(getattr(usage, "output_tokens", None)),
    )


def decoded(faults: Faults, image: object) -> bytes:
    """The picture's bytes. A link is not followed: it could lead anywhere."""
    encoded, link = getattr(image, "b64_json", None), getattr(image, "url", None)
    if not encoded and link:
        what = "sends links instead of pictures, which cost as much; choose another OPENAI_MODEL"
        raise faults.operators(what, str(link), billed=True)
    if not encoded:
        raise faults.garbage("an answer without a picture", str(image or ""))
    try:
        return base64.b64decode(encoded, validate=True)
    except (ValueError, TypeError):
        raise faults.garbage("broken base64", str(encoded)[:200]) from None


def text(faults: Faults, completion: "ChatCompletion", remote_id: str) -> Answer:
    """The words of an answer. How it ended is told, not judged."""
    choices: object = completion.choices
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(choice, "message", None)
    if message is None:
        raise faults.garbage("an answer without words", str(choice or ""))
    refusal = string(getattr(message, "refusal", None))
    ended = string(getattr(choice, "finish_reason", None))
    usage = completion.usage
    return written(
        text=string(getattr(message, "content", None)),
        finish="refused" if refusal else FINISHES.get(ended, ended),
        refusal=refusal or (ended if ended in FINISHES else ""),
        model=string(completion.model) or faults.model,
        input_tokens=count(getattr(usage, "prompt_tokens", None)),
        output_tokens=count(getattr(usage, "completion_tokens", None)),
        remote_id=remote_id or string(completion.id),
    )


def string(found: object) -> str:
    return found if isinstance(found, str) else ""


def read(faults: Faults, body: dict[str, Any], remote_id: str) -> Answer:
    """The answer in a body that came in a file, which the SDK has not seen."""
    if faults.form == "picture":
        from openai.types import ImagesResponse

        return picture(faults, ImagesResponse.construct(**body), remote_id)
    from openai.types.chat import ChatCompletion

    return text(faults, ChatCompletion.construct(**body), remote_id)
