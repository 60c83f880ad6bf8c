"""The course of a batch, step by step: collect, upload, create, poll, fetch, hand out."""

from typing import TYPE_CHECKING

from jobs.run import Run

if TYPE_CHECKING:
    from jobs.paid.batches.models import Batch


def take(batch: "Batch", run: Run) -> None:
    raise NotImplementedError
