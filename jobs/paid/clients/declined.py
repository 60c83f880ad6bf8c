"""An answer that is not "200 OK": its message, and the wait that it asks for."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any


class Declined(Exception):
    """A service answered with a status other than 200.

    It is read before the SDK sees it: the SDKs' errors quote the whole body, and they crash
    on a page that is not UTF-8.
    """

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(status)
        self.status = status
        self.headers = headers
        self.text = body.decode("utf-8", "replace")
        self.error = error_in(body)

    @property
    def message(self) -> str:
        """The service's own error message."""
        said = self.error.get("message")
        return said if isinstance(said, str) else self.text

    @property
    def retry_after(self) -> float | None:
        """The seconds to wait, from its headers: given there as seconds or as a date."""
        asked = self.headers.get("retry-after", "")
        wait = seconds(asked)
        return until(asked, self.headers.get("date", "")) if wait is None else wait


def error_in(body: bytes) -> dict[str, Any]:
    """The error object in a vendor's JSON; empty if the body is something else."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    error = found.get("error") if isinstance(found, dict) else None
    return error if isinstance(error, dict) else {}


def seconds(text: object) -> float | None:
    """A finite number of seconds, never negative; Google appends an "s"."""
    try:
        number = float(str(text).strip().removesuffix("s"))
    except ValueError:
        return None
    return max(number, 0.0) if math.isfinite(number) else None


def until(moment: str, now: str) -> float | None:
    """The seconds to a moment, by the clock of the server that named it."""
    end = parsed(moment)
    start = parsed(now) or datetime.now(UTC)
    return max((end - start).total_seconds(), 0.0) if end else None


def parsed(date: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
