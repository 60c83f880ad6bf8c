"""Gemini's files, batches and generateContent."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.jobs.clients import answers
from tests.jobs.clients.protocols import prompt_of
from tests.jobs.vendors.base import Batch, Desk, Refusal, Vendor, file_of
from tests.jobs.vendors.lines import line_request, picture, request_in, unpacked

API = r"/v1(?:beta)?"
STEPS = [
    ("POST", rf"/upload{API}/files", "begin"),
    ("POST", r"/upload/session/(.+)", "upload"),
    ("GET", rf"(?:/download)?{API}/files/(.+):download", "download"),
    ("POST", rf"{API}/models/(.+):batchGenerateContent", "create"),
    ("GET", rf"{API}/batches", "list"),
    ("GET", rf"{API}/(batches/[^/:]+)", "look"),
    ("POST", rf"{API}/(batches/[^/:]+):cancel", "cancel"),
    ("POST", rf"{API}/models/.+:generateContent", "call"),
]


class GeminiVendor(Vendor):
    """`wire` is the prefix of its states: Google sends BATCH_STATE_ or JOB_STATE_.

    `results_in` says where an operation names its result file: response or metadata.
    """

    conversation = Desk
    steps = STEPS

    def start_anew(self) -> None:
        super().start_anew()
        self.wire = "BATCH_STATE_"
        self.results_in = "response"

    @property
    def base_url(self) -> str:
        return self.url

    @property
    def states(self) -> dict[str, str]:  # type: ignore[override]
        words = {
            "created": "PENDING",
            "running": "RUNNING",
            "completed": "SUCCEEDED",
            "partial": "PARTIALLY_SUCCEEDED",
            "failed": "FAILED",
            "expired": "EXPIRED",
            "canceled": "CANCELLED",
        }
        return {ours: f"{self.wire}{word}" for ours, word in words.items()}

    def has_ended(self, word: str) -> bool:
        ends = {"SUCCEEDED", "PARTIALLY_SUCCEEDED", "FAILED", "EXPIRED", "CANCELLED"}
        return word.removeprefix(self.wire) in ends

    def key_of(self, line: dict[str, Any]) -> str:
        return str(line["key"])

    def perform(self, step: str, name: str, talk: Desk, body: bytes) -> Any:
        steps: dict[str, Callable[[], Any]] = {
            "create": lambda: self.described(self.open(name, request_in(body))),
            "list": lambda: self.page(talk.path),
            "look": lambda: self.described(self.look_at(name)),
            "cancel": lambda: self.cancel(name),
        }
        files: dict[str, Callable[[], Any]] = {
            "begin": lambda: self.begin(talk),
            "upload": lambda: self.upload(name, talk, body),
            "download": lambda: file_of(self.download(name)),
        }
        return files[step]() if step in files else answers.json_answer(steps[step]())

    def begin(self, talk: Desk) -> Any:
        """Open a resumable upload, as Google does: an empty reply with an address."""
        if talk.headers["X-Goog-Upload-Command"] != "start":
            raise Refusal(400, "An upload begins with start")
        session = str(next(self.numbers))
        self.uploaded[f"files/{session}"] = b""
        return going_on({"X-Goog-Upload-URL": f"{self.url}/upload/session/{session}"})

    def upload(self, session: str, talk: Desk, body: bytes) -> Any:
        name = f"files/{session}"
        if int(talk.headers["X-Goog-Upload-Offset"]) != len(self.uploaded[name]):
            raise Refusal(400, "Not the offset")
        self.uploaded[name] += body
        if "finalize" not in talk.headers["X-Goog-Upload-Command"]:
            return going_on()
        file = {
            "name": name,
            "mimeType": "application/jsonl",
            "sizeBytes": str(len(self.uploaded[name])),
            "state": "ACTIVE",
            "uri": f"{self.url}/v1/{name}",
        }
        return answers.json_answer({"file": file}, X_Goog_Upload_Status="final")

    def open(self, model: str, request: dict[str, Any]) -> Batch:
        asked = request["batch"]
        file = asked["inputConfig"].get("fileName", "")
        if not self.uploaded.get(file):
            raise Refusal(400, f"No such file: {file}")
        lines = unpacked(self.uploaded[file])
        if self.most_lines is not None and len(lines) > self.most_lines:
            raise Refusal(429, "You exceeded your quota of enqueued tokens.")
        return self.create(
            id=f"batches/{next(self.numbers)}",
            token=asked["displayName"],
            model=model,
            endpoint="generateContent",
            input_file=file,
            lines=lines,
            state=self.states["created"],
        )

    def page(self, path: str) -> dict[str, Any]:
        """In no order that Google documents: here the oldest first."""
        query = parse_qs(urlsplit(path).query)
        limit = min(int(query.get("pageSize", ["20"])[0]), self.page_size)
        start = int(query.get("pageToken", ["0"])[0])
        shown = self.listed()
        found = shown[start : start + limit]
        page: dict[str, Any] = {"operations": [self.described(batch) for batch in found]}
        if len(shown) > start + limit:
            page["nextPageToken"] = str(start + limit)
        return page

    def cancel(self, name: str) -> dict[str, Any]:
        batch = self.known(name)
        if self.has_ended(batch.state):
            raise Refusal(400, f"{name} can't be cancelled: {batch.state}")
        self.advance(batch, "canceled")
        return {}

    def download(self, name: str) -> bytes:
        if name not in self.results:
            raise Refusal(404, f"No such file: {name}")
        return self.results[name]

    def described(self, batch: Batch) -> dict[str, Any]:
        """The operation."""
        ended = self.has_ended(batch.state)
        stats = {"requestCount": str(len(batch.lines))}
        if ended:
            stats["successfulRequestCount"] = str(batch.done)
            stats["failedRequestCount"] = str(batch.failed)
        else:
            stats["pendingRequestCount"] = str(len(batch.lines))
        metadata: dict[str, Any] = {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1.GenerateContentBatch",
            "name": batch.id,
            "model": f"models/{batch.model}",
            "displayName": batch.token,
            "createTime": datetime.fromtimestamp(batch.created_at, UTC)
            .isoformat()
            .replace("+00:00", "Z"),
            "state": batch.state,
            "batchStats": stats,
        }
        operation: dict[str, Any] = {"name": batch.id, "metadata": metadata, "done": ended}
        if batch.errors:
            operation["error"] = batch.errors[0]
        if "output" in batch.files:
            output = {"responsesFile": f"files/{batch.files['output']}"}
            if self.results_in == "response":
                operation["response"] = output
            else:
                metadata["output"] = output
        return operation

    def answer_lines(self, batch: Batch, answered: int, word: str) -> None:
        lines = []
        for line in batch.lines[:answered]:
            request, key = line_request(line), self.key_of(line)
            prompt = prompt_of(request)
            if fault := self.outcome(key, prompt):
                said = {"code": fault.status, "message": fault.message, "status": fault.code}
                lines.append({"key": key, "error": said})
                batch.failed += 1
            elif self.is_bad(prompt):
                said = {"code": 3, "message": "Request contains an invalid argument."}
                lines.append({"key": key, "error": said})
                batch.failed += 1
            else:
                self.bill(batch, line)
                lines.append({"key": key, "response": self.body_of(batch.model, request)})
                batch.done += 1
        if lines:
            batch.files["output"] = self.store_result(self.shape(lines))

    def body_of(self, model: str, request: dict[str, Any]) -> dict[str, Any]:
        config = request.get("generationConfig") or request.get("generation_config") or {}
        prompt = prompt_of(request)
        words = self.words(prompt, config.get("responseJsonSchema"))
        part: dict[str, Any] = {"text": words}
        if "IMAGE" in config.get("responseModalities", []):
            part = {"inlineData": {"mimeType": "image/png", "data": picture()}}
        return {
            **answers.candidate([part]),
            "responseId": f"answer-{next(self.numbers)}",
            "modelVersion": f"{model}-2026",
            "usageMetadata": {
                "promptTokenCount": len(prompt.split()),
                "candidatesTokenCount": len(words.split()),
            },
        }


def going_on(headers: dict[str, str] | None = None) -> Any:
    """A behaviour: the empty reply to a part of an upload. It is not JSON."""
    told = {"X-Goog-Upload-Status": "active", **(headers or {})}
    return lambda conversation: conversation.answer(200, b"", "text/plain", told)
