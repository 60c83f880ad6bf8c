"""OpenAI's files, batches, chat completions and images."""

from collections.abc import Callable
from email.parser import BytesParser
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.jobs.clients import answers
from tests.jobs.clients.protocols import prompt_of
from tests.jobs.vendors.base import Batch, Desk, Fault, Refusal, Vendor, file_of
from tests.jobs.vendors.lines import line_request, picture, request_in, unpacked

STEPS = [
    ("POST", r"/v1/files", "upload"),
    ("GET", r"/v1/files/([^/]+)/content", "download"),
    ("POST", r"/v1/batches", "create"),
    ("GET", r"/v1/batches", "list"),
    ("GET", r"/v1/batches/([^/]+)", "look"),
    ("POST", r"/v1/batches/([^/]+)/cancel", "cancel"),
    ("POST", r"/v1/(?:chat/completions|images/generations)", "call"),
]
ENDPOINTS = {"/v1/chat/completions", "/v1/images/generations"}


class OpenAIVendor(Vendor):
    conversation = Desk
    steps = STEPS
    states = {
        "created": "validating",
        "running": "in_progress",
        "canceling": "cancelling",
        "canceled": "cancelled",
    }

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def has_ended(self, word: str) -> bool:
        return word in {"failed", "completed", "expired", "cancelled"}

    def key_of(self, line: dict[str, Any]) -> str:
        return str(line["custom_id"])

    def perform(self, step: str, name: str, talk: Desk, body: bytes) -> Any:
        steps: dict[str, Callable[[], Any]] = {
            "upload": lambda: self.upload(talk, body),
            "create": lambda: self.described(self.open(request_in(body))),
            "list": lambda: self.page(talk.path),
            "look": lambda: self.described(self.look_at(name)),
            "cancel": lambda: self.described(self.cancel(name)),
        }
        if step == "download":
            return file_of(self.download(name))
        return answers.json_answer(steps[step]())

    def upload(self, talk: Desk, body: bytes) -> dict[str, Any]:
        form = parts_of(talk.headers["Content-Type"], body)
        if form["purpose"] != b"batch":
            raise Refusal(400, "Batches need a file of the purpose batch")
        name = f"file-{next(self.numbers)}"
        self.uploaded[name] = form["file"]
        talk.entry.request = {key: value.decode() for key, value in form.items() if key != "file"}
        return {
            "id": name,
            "object": "file",
            "bytes": len(form["file"]),
            "created_at": 1,
            "filename": "batch.jsonl",
            "purpose": "batch",
            "status": "processed",
        }

    def open(self, request: dict[str, Any]) -> Batch:
        file = request.get("input_file_id", "")
        if file not in self.uploaded:
            raise Refusal(400, f"No such file: {file}")
        if request.get("endpoint") not in ENDPOINTS or request.get("completion_window") != "24h":
            raise Refusal(400, "Unknown endpoint or completion window")
        lines = unpacked(self.uploaded[file])
        models = {line_request(line).get("model", "") for line in lines}
        return self.create(
            id=f"batch_{next(self.numbers)}",
            token=(request.get("metadata") or {}).get("tabie", ""),
            model=", ".join(models),
            endpoint=request["endpoint"],
            input_file=file,
            lines=lines,
            state="validating",
        )

    def judge(self, batch: Batch) -> Batch:
        """Find out what is wrong with a batch, as OpenAI does after its creation."""
        batch.errors = batch.errors or self.errors_of(batch)
        if batch.errors:
            batch.state = "failed"
        return batch

    def errors_of(self, batch: Batch) -> list[dict[str, Any]]:
        if self.most_lines is not None and len(batch.lines) > self.most_lines:
            said = "Enqueued token limit reached for this model in organization org-1."
            return [error("token_limit_exceeded", said)]
        return [
            error("invalid_request", "The body is invalid.", line=number, param="body")
            for number, line in enumerate(batch.lines, 1)
            if line.get("url") != batch.endpoint or self.is_bad(prompt_of(line_request(line)))
        ]

    def look_at(self, batch_id: str) -> Batch:
        batch = self.known(batch_id)
        return batch if self.judge(batch).errors else super().look_at(batch_id)

    def page(self, path: str) -> dict[str, Any]:
        """The newest first."""
        query = parse_qs(urlsplit(path).query)
        limit = min(int(query.get("limit", ["20"])[0]), self.page_size)
        shown = self.listed()[::-1]
        if after := query.get("after"):
            ids = [batch.id for batch in shown]
            shown = shown[ids.index(after[0]) + 1 :] if after[0] in ids else []
        found = shown[:limit]
        return {
            "object": "list",
            "data": [self.described(batch) for batch in found],
            "first_id": found[0].id if found else None,
            "last_id": found[-1].id if found else None,
            "has_more": len(shown) > limit,
        }

    def cancel(self, name: str) -> Batch:
        batch = self.known(name)
        if self.has_ended(batch.state):
            raise Refusal(409, f"Cannot cancel a batch with status '{batch.state}'.")
        batch.state = "cancelling"
        return batch

    def download(self, name: str) -> bytes:
        if name not in self.results:
            raise Refusal(404, f"No such File object: {name}")
        return self.results[name]

    def described(self, batch: Batch) -> dict[str, Any]:
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": batch.endpoint,
            "errors": {"object": "list", "data": batch.errors} if batch.errors else None,
            "input_file_id": batch.input_file,
            "completion_window": "24h",
            "status": batch.state,
            "output_file_id": batch.files.get("output"),
            "error_file_id": batch.files.get("error"),
            "created_at": int(batch.created_at),
            "request_counts": {
                "total": len(batch.lines),
                "completed": batch.done,
                "failed": batch.failed,
            },
            "metadata": {"tabie": batch.token},
        }

    def answer_lines(self, batch: Batch, answered: int, word: str) -> None:
        good, bad = [], []
        for line in batch.lines[:answered]:
            request, key = line_request(line), self.key_of(line)
            if fault := self.outcome(key, prompt_of(request)):
                bad.append(refused(key, fault))
            else:
                self.bill(batch, line)
                good.append(reply(key, 200, self.body_of(batch.model, request)))
        left = {"expired": "batch_expired", "cancelled": "batch_cancelled"}.get(word)
        bad += [unanswered(self.key_of(line), left) for line in batch.lines[answered:] if left]
        batch.done, batch.failed = len(good), len(bad)
        for role, lines in (("output", self.shape(good)), ("error", bad)):
            if lines:
                batch.files[role] = self.store_result(lines)

    def body_of(self, model: str, request: dict[str, Any]) -> dict[str, Any]:
        if "messages" not in request:
            return {"created": 1, "data": [{"b64_json": picture()}]}
        form = request.get("response_format") or {}
        prompt = prompt_of(request)
        words = self.words(prompt, form.get("json_schema", {}).get("schema"))
        message = {"role": "assistant", "content": words, "refusal": None}
        return {
            "id": f"chatcmpl-{next(self.numbers)}",
            "object": "chat.completion",
            "created": 1,
            "model": f"{request['model']}-2026",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": len(prompt.split()),
                "completion_tokens": len(words.split()),
                "total_tokens": len(prompt.split()) + len(words.split()),
            },
        }


def error(code: str, message: str, line: int | None = None, param: str | None = None) -> Any:
    return {"code": code, "message": message, "line": line, "param": param}


def reply(key: str, status: int, body: dict[str, Any]) -> dict[str, Any]:
    response = {"status_code": status, "request_id": f"req-{key}", "body": body}
    return {"id": f"batch_req_{key}", "custom_id": key, "response": response, "error": None}


def refused(key: str, fault: Fault) -> dict[str, Any]:
    said = {"code": fault.code, "message": fault.message, "type": "invalid_request_error"}
    return reply(key, fault.status, {"error": said})


def unanswered(key: str, code: str) -> dict[str, Any]:
    said = {"code": code, "message": "This request could not be executed in time."}
    return {"id": f"batch_req_{key}", "custom_id": key, "response": None, "error": said}


def parts_of(content_type: str, body: bytes) -> dict[str, bytes]:
    """The fields of a form."""
    message: Any = BytesParser().parsebytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    return {
        part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
        for part in message.get_payload()
    }
