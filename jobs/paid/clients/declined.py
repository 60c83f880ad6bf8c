"""An answer that is not "200 OK": what it says, and how long it asks us to wait."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any


class Declined(Exception):
    """A service answered with another status than 200.

    Read by us, before its SDK: their errors quote all of it, and a page in another
    encoding than UTF-8 makes them stumble.
    """

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(status)
        self.status = status
        self.headers = headers
        self.text = body.decode("utf-8", "replace")
        self.error = error_in(body)

    @property
    def message(self) -> str:
        """What the service says, in its own words."""
        said = self.error.get("message")
        return said if isinstance(said, str) else self.text

    @property
    def retry_after(self) -> float | None:
        """The seconds that its headers ask for, as seconds or as a date."""
        asked = self.headers.get("retry-after", "")
        wait = seconds(asked)
        return until(asked, self.headers.get("date", "")) if wait is None else wait


def error_in(body: bytes) -> dict[str, Any]:
    """The error that both vendors put into their JSON; empty if it is something else."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    error = found.get("error") if isinstance(found, dict) else None
    return error if isinstance(error, dict) else {}


def seconds(text: object) -> float | None:
    """A finite number of seconds, never negative; Google's have an s behind them."""
    try:
        number = float(str(text).strip().removesuffix("s"))
    except ValueError:
        return None
    return max(number, 0.0) if math.isfinite(number) else None


def until(moment: str, now: str) -> float | None:
    """The seconds to a moment, by the clock of who named it."""
    end = parsed(moment)
    start = parsed(now) or datetime.now(UTC)
    return max((end - start).total_seconds(), 0.0) if end else None


def parsed(date: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
