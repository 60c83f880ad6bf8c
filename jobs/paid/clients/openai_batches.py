"""OpenAI's batches."""

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs.errors import BadRequest, ProviderUnavailable
from jobs.paid.clients import Answer, lines, openai_forms
from jobs.paid.clients.batch import Remote, Result
from jobs.paid.clients.declined import Declined
from jobs.paid.clients.faults import CreationFaults, Faults, FreeFaults
from jobs.paid.clients.openai import OpenAI, declined
from jobs.paid.clients.steps import (
    TOO_LARGE,
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
from jobs.paid.clients.written import count

if TYPE_CHECKING:
    from openai.types import Batch

LABEL = "tabie"  # of our token among a batch's metadata
ENDED = {"completed", "failed", "expired", "cancelled"}
PAGE = 100
KEPT = 7 * 24 * 3600  # seconds; a file that no batch was made of goes away by itself
SKEW = timedelta(hours=1)  # between our clock and OpenAI's, generously


class OpenAIBatches:
    """Sends requests about batches to OpenAI, each once."""

    def __init__(self, client: OpenAI) -> None:
        self.client = client

    def line(self, model: str, key: str, request: dict[str, Any]) -> dict[str, Any]:
        return {
            "custom_id": key,
            "method": "POST",
            "url": openai_forms.ENDPOINTS[request["form"]],
            "body": openai_forms.body(model, request),
        }

    def upload(self, lines: Path, token: str, timeout: float) -> str:
        with lines.open("rb") as opened:
            sent = self.client.request(
                self.free(token),
                lambda sdk: sdk.files.create(
                    file=(f"{token}.jsonl", opened, "application/jsonl"),
                    purpose="batch",
                    expires_after={"anchor": "created_at", "seconds": KEPT},
                    timeout=timeout,
                ),
                partial(uploading, declined),
            )
        return named(sent.id, self.free(token))

    def create(self, model: str, form: str, file: str, token: str, timeout: float) -> Remote:
        faults = CreationFaults("OpenAI", model, self.client.api_key, form)
        endpoint: Any = openai_forms.ENDPOINTS[form]
        batch = self.client.request(
            faults,
            lambda sdk: sdk.batches.create(
                input_file_id=file,
                endpoint=endpoint,
                completion_window="24h",
                metadata={LABEL: token},
                timeout=timeout,
            ),
            partial(creating, declined),
        )
        named(batch.id, faults)  # without it the batch must be looked for
        return self.remote(batch)

    def find(self, token: str, since: datetime, timeout: float) -> list[Remote]:
        """The list has the newest first: it is read back to `since`."""
        faults, left = self.free(token), deadline(timeout)
        found: list[Batch] = []
        after: dict[str, str] = {}
        for _ in pages(faults):
            page = self.client.request(
                faults,
                lambda sdk: sdk.batches.list(limit=PAGE, extra_query=after, timeout=left()),  # noqa: B023
                partial(listing, declined),
            )
            batches = page.data if isinstance(page.data, list) else []
            found += [batch for batch in batches if label(batch) == token]
            if not batches or not page.has_more or made_at(batches[-1]) < since - SKEW:
                break
            after = {"after": named(batches[-1].id, faults)}
        return [self.remote(batch) for batch in sorted(found, key=made_at)]

    def look(self, remote_id: str, timeout: float) -> Remote:
        return self.remote(
            self.client.request(
                self.free(remote_id),
                lambda sdk: sdk.batches.retrieve(remote_id, timeout=timeout),
                partial(asking, declined),
            )
        )

    def cancel(self, remote_id: str, timeout: float) -> None:
        with suppress(HasEnded):
            self.client.request(
                self.free(remote_id),
                lambda sdk: sdk.batches.cancel(remote_id, timeout=timeout),
                partial(canceling, declined),
            )

    def download(self, file: str, to: Path, timeout: float) -> None:
        from jobs.paid.clients import http

        with http.saving(to):
            self.client.request(
                self.free(file),
                lambda sdk: sdk.files.content(file, timeout=timeout),
                partial(asking, declined),
            )

    def results(self, model: str, form: str, file: Path) -> Iterator[Result]:
        faults = self.client.faults(model, form)
        free = FreeFaults("OpenAI", model, self.client.api_key, form)
        return lines.results(file, "custom_id", faults, partial(read, faults, free))

    def free(self, name: str) -> Faults:
        return FreeFaults("OpenAI", name, self.client.api_key)

    def remote(self, batch: "Batch") -> Remote:
        faults = self.free(str(batch.id))
        counts = batch.request_counts
        state = openai_forms.string(batch.status)
        error, bad_line = failure(faults, batch) if state == "failed" else (None, None)
        return Remote(
            id=named(batch.id, faults),
            state=state,
            has_ended=state in ENDED,
            total=count(getattr(counts, "total", None)) or 0,
            done=count(getattr(counts, "completed", None)) or 0,
            failed=count(getattr(counts, "failed", None)) or 0,
            files=tuple(
                name
                for name in (batch.output_file_id, batch.error_file_id)
                if isinstance(name, str) and name
            ),
            error=error,
            bad_line=bad_line,
        )


def failure(faults: Faults, batch: "Batch") -> tuple[Exception, int | None]:
    """Why the whole batch failed, and the line that made it fail. Nothing of it was billed."""
    found: object = getattr(batch.errors, "data", None)
    told = found[0] if isinstance(found, list) and found else None
    code = openai_forms.string(getattr(told, "code", None))
    said = openai_forms.string(getattr(told, "message", None)) or code
    if code in TOO_LARGE:
        return too_large(faults, said), None
    if line := count(getattr(told, "line", None)):
        return BadRequest(faults.text(f"can't make sense of line {line}", said)), line
    error = line_error(faults, code, said)
    if type(error) is ProviderUnavailable:
        error = ProviderUnavailable(reason=faults.text("could not process the batch", said))
    return error, None


def read(faults: Faults, free: Faults, line: dict[str, Any]) -> Answer:
    """The answer of a line; raises its error."""
    response, error = line.get("response"), line.get("error")
    if not isinstance(response, dict):
        told = error if isinstance(error, dict) else {}
        raise line_error(free, str(told.get("code")), str(told.get("message")))
    status, body = count(response.get("status_code")) or 0, response.get("body")
    if status != 200:
        raise declined(free, Declined(status, {}, json.dumps(body).encode()))
    if not isinstance(body, dict):
        raise faults.garbage("a line without an answer")
    return openai_forms.read(faults, body, openai_forms.string(response.get("request_id")))


def line_error(faults: Faults, code: str, said: str) -> Exception:
    """The error for a code without a status: most mean that the line was never processed."""
    status = 400 if code.startswith("invalid_") else 503
    body = json.dumps({"error": {"code": code, "message": said}}).encode()
    return declined(faults, Declined(status, {}, body))


def label(batch: "Batch") -> object:
    found: object = batch.metadata
    return found.get(LABEL) if isinstance(found, dict) else None


def made_at(batch: "Batch") -> datetime:
    return datetime.fromtimestamp(count(batch.created_at) or 0, UTC)
