"""One line per event: readable on a terminal, JSON with LOG_FORMAT=json.

Every line written within `about(job, worker)` names its job and worker; its trace is the job's id.
"""

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from jobs import tracing
from jobs.db import text

if TYPE_CHECKING:  # logging is set up before models can be imported
    from jobs.models import Job

_subject: ContextVar[tuple["Job", str] | None] = ContextVar("subject", default=None)


class about:  # reads as a word in a with statement
    """Add this job and this worker to every line logged inside."""

    def __init__(self, job: "Job", worker: str) -> None:
        self.subject = (job, worker)

    def __enter__(self) -> None:
        self.token = _subject.set(self.subject)
        self.trace = tracing.trace_id.set(self.subject[0].pk.hex)

    def __exit__(self, *_: object) -> None:
        _subject.reset(self.token)
        tracing.trace_id.reset(self.trace)


def _facts(record: logging.LogRecord) -> dict[str, object]:
    """Who wrote the line, and what `tracing` says of the function that wrote it."""
    told: dict[str, object] = getattr(record, "facts", {})
    subject = _subject.get()
    if subject is None:
        return told
    job, worker = subject
    return {
        **told,
        "job": job._meta.label,
        "id": str(job.pk),
        "epoch": job.epoch,
        "attempt": job.attempts + 1,
        "worker": worker,
    }


class TextFormatter(logging.Formatter):
    """One event, one line, whatever its texts hold: they may be an attacker's.

    Only a traceback has more lines. They are indented, so that none looks like an event.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:
        facts = " ".join(f"{name}={value}" for name, value in _facts(record).items())
        line = super().formatMessage(record)
        return text.printable(f"{line}  {facts}" if facts else line)

    def formatException(self, ei: Any) -> str:
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"    {text.printable(line)}" for line in lines)


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_facts(record),
        }
        if trace := tracing.trace_id.get():
            line["trace_id"] = trace
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)
