"""Batches at a paid service: what a client offers, and what the service said."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from jobs.paid.clients import Answer


@dataclass(frozen=True, kw_only=True)
class Remote:
    """A batch as its service describes it."""

    id: str
    state: str  # in the service's words
    has_ended: bool = False  # False also for a state that we don't know
    total: int = 0
    done: int = 0
    failed: int = 0
    files: tuple[str, ...] = ()  # of the results, in the service's words
    error: Exception | None = None  # of `jobs.errors`: why the whole batch failed
    bad_line: int | None = None  # the line, from 1, that failed the whole batch


@dataclass(frozen=True, kw_only=True)
class Result:
    """One line of a result file: an answer, or the error of this line."""

    key: str
    answer: Answer | None = None
    error: Exception | None = None  # of `jobs.errors`; `billed` says whether it cost something


class BatchClient(Protocol):
    """Every method sends its request once and raises the errors of `jobs.errors`.

    `create` alone costs money: its lost reply is an AnswerLost, which `find` resolves. The errors
    of all other methods say that nothing was billed, except BatchGone.

    A request is a dict: {"form": "picture", "prompt": …} or {"form": "text", "prompt": …, …}.
    """

    def line(self, model: str, key: str, request: dict[str, Any]) -> dict[str, Any]:
        """The line of the input file for this request."""

    def upload(self, lines: Path, token: str, timeout: float) -> str:
        """Upload the input file; returns its name at the service. Costs nothing."""

    def create(self, model: str, form: str, file: str, token: str, timeout: float) -> Remote:
        """Create the batch. Raises NoBatches or BatchTooLarge if the service won't have it."""

    def find(self, token: str, since: datetime, timeout: float) -> list[Remote]:
        """All batches with this token, the oldest first, by paging through the service's list."""

    def look(self, remote_id: str, timeout: float) -> Remote:
        """The batch's state now; raises BatchGone if the service does not know it."""

    def cancel(self, remote_id: str, timeout: float) -> None:
        """Ask the service to stop; what is finished stays. Nothing happens if it has ended."""

    def download(self, file: str, to: Path, timeout: float) -> None:
        """Write a result file to disk, however large it is. It appears when it is whole."""

    def results(self, model: str, form: str, file: Path) -> Iterator[Result]:
        """The lines of a downloaded file, one at a time; lines that can't be read are left out."""
