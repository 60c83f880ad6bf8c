"""Gemini's batches. The requests are written here: the SDK drops a batch's errors and counts."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs.errors import BadRequest, ProviderUnavailable
from jobs.paid.clients import Answer, gemini_forms, lines
from jobs.paid.clients.batch import Remote, Result
from jobs.paid.clients.declined import Declined
from jobs.paid.clients.faults import CreationFaults, Faults, FreeFaults
from jobs.paid.clients.gemini import Gemini, declined, dicts
from jobs.paid.clients.steps import (
    Declining,
    HasEnded,
    asking,
    canceling,
    creating,
    deadline,
    listing,
    named,
    pages,
    too_large,
    uploading,
)

if TYPE_CHECKING:
    import httpx2

ENDED = {"SUCCEEDED", "PARTIALLY_SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"}
PAGE = 100
# Errors inside a batch have numbers of gRPC, or statuses of HTTP.
STATUSES = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400, 16: 401}
# What is read of a response. The SDK refuses fields that it does not know.
PART: dict[str, Any] = {"text": {}, "thought": {}, "inlineData": {"mimeType": {}, "data": {}}}
FIELDS: dict[str, Any] = {
    "candidates": {"content": {"parts": PART}, "finishReason": {}, "finishMessage": {}},
    "modelVersion": {},
    "promptFeedback": {"blockReason": {}},
    "responseId": {},
    "usageMetadata": {"promptTokenCount": {}, "candidatesTokenCount": {}, "thoughtsTokenCount": {}},
}
LINE = re.compile(r"(?i)\bline (\d{1,9})\b")


class GeminiBatches:
    """Sends requests about batches to Gemini, each once."""

    def __init__(self, client: Gemini) -> None:
        self.client = client

    def line(self, model: str, key: str, request: dict[str, Any]) -> dict[str, Any]:
        return {"key": key, "request": gemini_forms.body(request)}

    def upload(self, lines: Path, token: str, timeout: float) -> str:
        """Two requests: the first one asks where to send the file."""
        from jobs.paid.clients import http

        faults, left = self.free(token), deadline(timeout)
        size = lines.stat().st_size
        start = {
            "X-Goog-Upload-Protocol": "resumable",
            "X-Goog-Upload-Command": "start",
            "X-Goog-Upload-Header-Content-Length": str(size),
            "X-Goog-Upload-Header-Content-Type": "application/jsonl",
        }
        told = {"display_name": token, "mime_type": "application/jsonl", "size_bytes": size}
        url = f"{self.client.root}/upload/{self.client.version}/files"
        with http.of_any_type():
            begun = self.send(
                faults, uploading, "POST", url, left(), headers=start, json={"file": told}
            )
        url = self.session(named(begun.headers.get("x-goog-upload-url"), faults))
        end = {
            "X-Goog-Upload-Command": "upload, finalize",
            "X-Goog-Upload-Offset": "0",
            "Content-Length": str(size),
        }
        with lines.open("rb") as opened:
            sent = self.send(faults, uploading, "POST", url, left(), headers=end, content=opened)
        return named(inside(sent.json(), "file").get("name"), faults)

    def session(self, url: str) -> str:
        """The address of an upload, at our server: the file and the key go nowhere else."""
        from httpx2 import URL

        return str(URL(self.client.root).copy_with(raw_path=URL(url).raw_path))

    def create(self, model: str, form: str, file: str, token: str, timeout: float) -> Remote:
        faults = CreationFaults("Gemini", model, self.client.api_key, form)
        path = model if "/" in model else f"models/{model}"
        asked = {"batch": {"displayName": token, "inputConfig": {"fileName": file}}}
        operation = self.ask(
            faults, creating, "POST", f"{path}:batchGenerateContent", timeout, json=asked
        )
        named(operation.get("name"), faults)  # without it the batch must be looked for
        return self.remote(operation)

    def find(self, token: str, since: datetime, timeout: float) -> list[Remote]:
        """Read the whole list: its order is not documented."""
        faults, left = self.free(token), deadline(timeout)
        found: list[dict[str, Any]] = []
        query: dict[str, str | int] = {"pageSize": PAGE}
        for _ in pages(faults):
            page = self.ask(faults, listing, "GET", "batches", left(), params=query)
            found += [
                operation
                for operation in dicts(page.get("operations"))
                if inside(operation, "metadata").get("displayName") == token
            ]
            if not page.get("nextPageToken"):
                break
            query["pageToken"] = str(page["nextPageToken"])
        found.sort(key=lambda operation: str(inside(operation, "metadata").get("createTime")))
        return [self.remote(operation) for operation in found]

    def look(self, remote_id: str, timeout: float) -> Remote:
        return self.remote(self.ask(self.free(remote_id), asking, "GET", remote_id, timeout))

    def cancel(self, remote_id: str, timeout: float) -> None:
        with suppress(HasEnded):
            self.ask(
                self.free(remote_id), canceling, "POST", f"{remote_id}:cancel", timeout, json={}
            )

    def download(self, file: str, to: Path, timeout: float) -> None:
        from jobs.paid.clients import http

        # Without "download" Google answers with a redirect to this address.
        url = f"{self.client.root}/download/{self.client.version}/{file}:download"
        with http.saving(to):
            self.send(self.free(file), asking, "GET", url, timeout, params={"alt": "media"})

    def results(self, model: str, form: str, file: Path) -> Iterator[Result]:
        faults = self.client.faults(model, form)
        free = FreeFaults("Gemini", model, self.client.api_key, form)
        return lines.results(file, "key", faults, partial(read, faults, free))

    def free(self, name: str) -> Faults:
        return FreeFaults("Gemini", name, self.client.api_key)

    def ask(
        self, faults: Faults, step: Any, method: str, path: str, timeout: float, **options: Any
    ) -> dict[str, Any]:
        url = f"{self.client.api}/{path}"
        found: dict[str, Any] = self.send(faults, step, method, url, timeout, **options).json()
        return found

    def send(
        self,
        faults: Faults,
        step: Any,
        method: str,
        url: str,
        timeout: float,
        headers: dict[str, str] | None = None,
        **options: Any,
    ) -> "httpx2.Response":
        from jobs.paid.clients import http

        refused: Declining = partial(step, declined)
        with http.mapped(faults, refused):
            return self.client.http.request(
                method,
                url,
                headers={"x-goog-api-key": self.client.api_key, **(headers or {})},
                timeout=timeout,
                **options,
            )

    def remote(self, operation: dict[str, Any]) -> Remote:
        faults = self.free(str(operation.get("name")))
        metadata = inside(operation, "metadata")
        state = str(metadata.get("state") or "")
        short = state.removeprefix("BATCH_STATE_").removeprefix("JOB_STATE_")
        stats = inside(metadata, "batchStats")
        return Remote(
            id=named(operation.get("name"), faults),
            state=state,
            has_ended=short in ENDED,
            total=number(stats, "requestCount"),
            done=number(stats, "successfulRequestCount"),
            failed=number(stats, "failedRequestCount"),
            files=files_of(operation),
            **(failure(faults, operation) if short == "FAILED" else {}),
        )


def files_of(operation: dict[str, Any]) -> tuple[str, ...]:
    """The result file: newer answers name it in `response`, older ones in the metadata."""
    places = [inside(operation, "response"), inside(inside(operation, "metadata"), "output")]
    found = [place.get("responsesFile") for place in places]
    return tuple(dict.fromkeys(name for name in found if isinstance(name, str) and name))


def failure(faults: Faults, operation: dict[str, Any]) -> dict[str, Any]:
    """Why the whole batch failed, and the line that made it fail if Google names one."""
    told = inside(operation, "error")
    status, said = status_of(told), str(told.get("message", ""))
    if status == 429:
        return {"error": too_large(faults, said)}
    if status == 400:
        line = LINE.search(said)
        error = BadRequest(faults.text("can't make sense of the batch", said))
        return {"error": error, "bad_line": int(line[1]) if line else None}
    if status in (401, 403):
        return {"error": faults.wrong_key(status, said)}
    return {"error": ProviderUnavailable(reason=faults.text("could not process the batch", said))}


def read(faults: Faults, free: Faults, line: dict[str, Any]) -> Answer:
    """The answer of a line; raises its error."""
    from google.genai import types

    response = line.get("response")
    if isinstance(response, dict):
        known = json.dumps(pruned(response, FIELDS))
        found = types.GenerateContentResponse.model_validate_json(known)
        return gemini_forms.read(faults, found)
    error = inside(line, "error") or inside(line, "status")
    raise declined(free, Declined(status_of(error), {}, json.dumps({"error": error}).encode()))


def pruned(found: Any, fields: dict[str, Any]) -> Any:
    """The same JSON with these fields alone."""
    if isinstance(found, list):
        return [pruned(item, fields) for item in found]
    if isinstance(found, dict) and fields:
        return {name: pruned(found[name], fields[name]) for name in fields if name in found}
    return found


def status_of(error: dict[str, Any]) -> int:
    code = error.get("code")
    if not isinstance(code, int) or isinstance(code, bool):
        return 503
    return code if code >= 400 else STATUSES.get(code, 503)


def number(stats: dict[str, Any], name: str) -> int:
    """Google writes numbers as strings."""
    found = str(stats.get(name, ""))
    return int(found) if found.isdecimal() and len(found) < 10 else 0


def inside(found: object, name: str) -> dict[str, Any]:
    inner = found.get(name) if isinstance(found, dict) else None
    return inner if isinstance(inner, dict) else {}
