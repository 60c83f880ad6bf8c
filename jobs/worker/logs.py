"""One line per event: readable on a terminal, JSON with LOG_FORMAT=json.

Every line written within `about(job, worker)` names its job and worker. Its trace is that of the
request or job that enqueued it; a job that came from neither is its own trace.
"""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from jobs import tracing
from jobs.db import text

if TYPE_CHECKING:  # logging is set up before models can be imported
    from jobs.models import Job

_subject: ContextVar[tuple["Job", str] | None] = ContextVar("subject", default=None)


@contextmanager
def about(job: "Job", worker: str) -> Iterator[None]:
    """Add this job and this worker to every line logged inside."""
    token = _subject.set((job, worker))
    try:
        with tracing.on_behalf_of(job):
            yield
    finally:
        _subject.reset(token)


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
    def __init__(self, database: str = "") -> None:
        """Every line names the database, if it has a name."""
        super().__init__()
        self.always = {"database": database} if database else {}

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **self.always,
            **_facts(record),
        }
        if trace := tracing.trace_id.get():
            line["trace_id"] = trace
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)
