"""One line per event: readable on a terminal, JSON with LOG_FORMAT=json.

Every line written within `about(job, worker)` names its job and worker. Every line of a request or
a job names its trace, which began with its first cause.
"""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from jobs import spans, tracing
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


def begin(job: "Job", worker: str) -> None:
    """The same, for the rest of this context."""
    _subject.set((job, worker))
    tracing.act_for(job)


def _facts(record: logging.LogRecord) -> dict[str, object]:
    """What `tracing` says of a function, whose run wrote the line, and in which trace."""
    facts: dict[str, object] = dict(getattr(record, "facts", {}))
    if subject := _subject.get():
        job, worker = subject
        facts |= {
            "job": job._meta.label,
            "id": str(job.pk),
            "epoch": job.epoch,
            "attempt": job.attempts + 1,
            "worker": worker,
        }
    if trace := tracing.trace_id.get():
        facts["trace_id"] = trace
    return facts


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
        if span := spans.span_id():
            line["span_id"] = span
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)
