"""What a paid service may do with a request: behaviours for `Service.script`.

Each is a function that gets the Conversation and may answer it.
"""

import base64
import functools
import gzip
import io
import json
import struct
import zlib

from PIL import Image


@functools.cache
def png(width=8, height=8) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(file, "PNG")
    return file.getvalue()


@functools.cache
def bomb():
    """A PNG of a few bytes that claims to have 3.6 gigapixels."""

    def chunk(kind, data):
        crc = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + crc

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    data = zlib.compress(bytes(1_000_000), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def picture(raw=None):
    """200 and a picture: what should happen."""

    def behaviour(conversation):
        body = body_with(conversation, raw or png())
        conversation.answer(200, body, headers=request_id(conversation))

    return behaviour


def body_with(conversation, raw):
    """A body with a picture, which is billed even if it does not arrive."""
    conversation.entry.paid = True
    encoded = base64.b64encode(raw).decode()
    if conversation.speaks_gemini:
        part = {"inlineData": {"mimeType": "image/png", "data": encoded}}
        return candidate([part], conversation)
    return {"created": 1, "data": [{"b64_json": encoded}]}


def candidate(parts, conversation=None, finish="STOP", **columns):
    content = {"role": "model", "parts": parts}
    number = conversation.entry.number if conversation else 0
    return {
        "candidates": [{"content": content, "finishReason": finish, "index": 0, **columns}],
        "responseId": f"answer-{number}",
    }


def request_id(conversation):
    return {"x-request-id": f"answer-{conversation.entry.number}"}


def json_answer(body, status=200, **headers):
    """Any JSON, sent whole."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda conversation: conversation.answer(status, body, headers=named)


def status(code, message="it is so", **headers):
    """An error in the vendor's format."""
    body = {"error": {"code": code, "message": message, "status": "SO", "type": "so"}}
    return json_answer(body, code, **headers)


def page(code=200, text="<html><body><h1>Welcome to the hotel</h1></body></html>"):
    """HTML, as from a proxy in between."""
    return lambda conversation: conversation.answer(code, text.encode(), "text/html")


def wrong_type(conversation):
    """A good picture with the content type of text."""
    conversation.answer(200, body_with(conversation, png()), "text/plain")


# Gemini's own.


def blocked(reason="PROHIBITED_CONTENT"):
    return json_answer({"promptFeedback": {"blockReason": reason}, "responseId": "blocked"})


def finish(reason="SAFETY"):
    return json_answer({"candidates": [{"finishReason": reason, "index": 0}], "responseId": "x"})


def google_error(code, message, status, *details, **headers):
    error = {"code": code, "message": message, "status": status, "details": list(details)}
    return json_answer({"error": error}, code, **headers)


def google_quota(*violations, message="You exceeded your current quota.", delay="17s"):
    """Google's 429."""
    return google_error(
        429,
        message,
        "RESOURCE_EXHAUSTED",
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": list(violations)},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
    )


# OpenAI's own.


def openai_error(code, name, message="it is so", kind="invalid_request_error", **headers):
    error = {"code": name, "message": message, "param": None, "type": kind}
    return json_answer({"error": error}, code, **headers)


# On the wire.


def reset_unread(conversation):
    """RST before the request is read. Works only in a list: no prompt is known yet."""
    conversation.reset()


def reset(conversation):
    """RST after the request was read."""
    conversation.reset()


def hang(conversation):
    """Silence until the service closes."""
    conversation.server.closing.wait(60)


def drip(conversation):
    """The body, one byte at a time, without end."""
    closing = conversation.server.closing
    conversation.begin(200)
    while not closing.is_set():
        conversation.say_chunk(b" ")
        closing.wait(0.1)


def drip_headers(conversation):
    """The headers, one byte at a time, without end."""
    conversation.say(b"HTTP/1.1 200 OK\r\nX-Drip: ")
    closing = conversation.server.closing
    while not closing.is_set():
        conversation.say(b"x")
        closing.wait(0.1)


def half(conversation):
    """Half of the bytes that Content-Length promised, then the end."""
    body = json.dumps(body_with(conversation, png())).encode()
    conversation.begin(200, len(body))
    conversation.say(body[: len(body) // 2])


def half_chunked(conversation):
    """Chunks without the last one."""
    conversation.begin(200)
    conversation.say_chunk(json.dumps(body_with(conversation, png())).encode()[:50])


def long(size=50 * 1024 * 1024, announced=True):
    """Many bytes, with Content-Length or in chunks."""

    def behaviour(conversation):
        conversation.begin(200, size if announced else None)
        piece = b" " * 65_536
        for _ in range(size // len(piece)):
            conversation.say(piece) if announced else conversation.say_chunk(piece)

    return behaviour


def inflating(size=50 * 1024 * 1024):
    """Many bytes, compressed into few."""
    packed = gzip.compress(bytes(size), 1)
    return lambda conversation: conversation.answer(
        200, packed, headers={"Content-Encoding": "gzip"}
    )


def gzipped(conversation):
    """A good picture, compressed."""
    body = json.dumps(body_with(conversation, png())).encode()
    conversation.answer(200, gzip.compress(body), headers={"Content-Encoding": "gzip"})


def not_gzip(conversation):
    """Bytes that claim to be gzip and are not."""
    conversation.answer(200, b"{}", headers={"Content-Encoding": "gzip"})


def bad_base64(conversation):
    body = json.dumps(body_with(conversation, png())).replace("iVBORw0KGgo", "iVBO!!!!Rw0KGgo")
    conversation.answer(200, body.encode())
