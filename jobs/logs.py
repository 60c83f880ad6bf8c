"""One line per event: readable on a terminal, JSON with LOG_FORMAT=json.

Every line written within `about(job, worker)` says which run it belongs to.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # logging is set up before models can be imported
    from jobs.models import Job

_context: ContextVar[Mapping[str, object]] = ContextVar("run", default=MappingProxyType({}))


@contextmanager
def about(job: "Job", worker: str) -> Iterator[None]:
    token = _context.set(
        {
            "job": job._meta.label,
            "id": str(job.pk),
            "epoch": job.epoch,
            "attempt": job.attempts + 1,
            "worker": worker,
        }
    )
    try:
        yield
    finally:
        _context.reset(token)


class TextFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:
        # One event, one line: a newline in somebody's error text starts no line of its own.
        line = super().formatMessage(record).replace("\n", "\\n")
        facts = " ".join(f"{name}={value}" for name, value in _context.get().items())
        return f"{line}  {facts}" if facts else line


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_context.get(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)
