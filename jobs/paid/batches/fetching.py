"""Storing the results of a batch as they came, before anything is made of them.

They are kept in pieces, so that a file of gigabytes needs little memory.
"""

import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from django.db.models.functions import Now

from jobs import storage
from jobs.db import sessions
from jobs.errors import StorageRefused, StorageUnavailable
from jobs.paid import ledger
from jobs.paid.batches import members, pace
from jobs.paid.batches.polling import asking
from jobs.paid.breaker import pausing_on
from jobs.paid.clients.batch import BatchClient, Remote
from jobs.run import Run
from jobs.tracing import logged

if TYPE_CHECKING:
    from jobs.paid.batches.models import Batch

DOWNLOAD_SECONDS = 600.0
EXPIRED = "expired: "  # before the name of results that retention is deleting, or has deleted
PIECE = 16 * 1024 * 1024  # bytes; a longer line is a piece of its own


@logged
def fetch(batch: "Batch", run: Run, client: BatchClient, remote: Remote) -> None:
    """Download all result files and store them; the row keeps the name of the last piece."""
    number = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in remote.files:
            local = Path(folder, "results.jsonl")
            with run.step("download"), asking(batch):
                run.allow(timedelta(seconds=DOWNLOAD_SECONDS) + ledger.MARGIN)
                client.download(file, local, DOWNLOAD_SECONDS)
            with run.step("store"), pausing_on(StorageRefused, batch.provider):
                for piece in _pieces(local):
                    number += 1
                    run.allow(timedelta(seconds=DOWNLOAD_SECONDS))
                    storage.named("answers").put(name_of(batch, number), piece)
    members.note(batch, file=name_of(batch, number), ended_at=Now())


def _pieces(path: Path) -> Iterator[bytes]:
    """Whole lines, as many as fit into a piece. The same file always gives the same pieces."""
    piece = bytearray()
    with path.open("rb") as file:
        for line in file:
            if piece and len(piece) + len(line) > PIECE:
                yield bytes(piece)
                piece = bytearray()
            piece += line
    yield bytes(piece)


def name_of(batch: "Batch", number: int) -> str:
    return f"batches/{batch.token}/{number}"


def names_of(file: str) -> list[str]:
    """The names of all pieces, from the name of the last one; none if they have expired."""
    if not file or file.startswith(EXPIRED):
        return []
    folder, _, last = file.rpartition("/")
    return [f"{folder}/{number}" for number in range(1, int(last) + 1)]


def stored(batch: "Batch") -> Iterator[bytes]:
    """The pieces of the stored results."""
    for name in names_of(batch.file):
        sessions.give_back()
        with pausing_on(StorageRefused, batch.provider):
            try:
                yield storage.named("answers").read(name)
            except FileNotFoundError:
                raise StorageUnavailable(
                    pace.LONGEST,
                    reason=f"The results {name} are gone. Look whether the answers' storage is"
                    " the right one.",
                ) from None
