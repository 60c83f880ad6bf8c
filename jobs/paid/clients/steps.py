"""The steps of a batch: what a refusal means in each, and what both services need for them."""

import re
import time
from collections.abc import Callable, Iterator

from jobs.errors import BadRequest, BatchGone, BatchTooLarge, NoBatches, OperatorsFault
from jobs.paid.clients.declined import Declined
from jobs.paid.clients.faults import Faults

Declining = Callable[[Faults, Declined], Exception]

NOT_THERE = {404, 405, 501}
GONE = {404, 410}
TOO_LARGE = {"token_limit_exceeded", "request_limit_exceeded"}  # in OpenAI's words
ENQUEUED = re.compile(r"(?i)enqueued")  # tokens, in Google's words
MOST_PAGES = 100


class HasEnded(Exception):
    """The batch can't be canceled: it has ended."""


def uploading(usual: Declining, faults: Faults, answer: Declined) -> Exception:
    if answer.status in NOT_THERE:
        return no_batches(faults, answer)
    if answer.status == 413:
        return too_large(faults, answer.message)
    return asking(usual, faults, answer)


def creating(usual: Declining, faults: Faults, answer: Declined) -> Exception:
    if answer.status in NOT_THERE:
        return no_batches(faults, answer)
    is_full = answer.status == 429 and ENQUEUED.search(answer.message)
    if is_full or str(answer.error.get("code")) in TOO_LARGE:
        return too_large(faults, answer.message)
    return usual(faults, answer)


def asking(usual: Declining, faults: Faults, answer: Declined) -> Exception:
    if answer.status in GONE:
        what = (
            f"does not know this ({answer.status}): the key belongs to another account, it was"
            " deleted, or its time is over. It may have been billed: check the key, then resume the"
            " provider; or cancel the batch, which gives it up"
        )
        return BatchGone(reason=faults.text(what, answer.message))
    error = usual(faults, answer)
    # No fault of the batch: it must be asked about again when a person has looked.
    return OperatorsFault(reason=str(error)) if isinstance(error, BadRequest) else error


def listing(usual: Declining, faults: Faults, answer: Declined) -> Exception:
    if answer.status in NOT_THERE:
        return no_batches(faults, answer)
    return asking(usual, faults, answer)


def canceling(usual: Declining, faults: Faults, answer: Declined) -> Exception:
    return HasEnded() if answer.status in (400, 409) else asking(usual, faults, answer)


def no_batches(faults: Faults, answer: Declined) -> NoBatches:
    what = f"has no batches for us ({answer.status})"
    return NoBatches(reason=faults.text(what, answer.message))


def too_large(faults: Faults, said: str) -> BatchTooLarge:
    return BatchTooLarge(reason=faults.text("allows our account no batch of this size now", said))


def deadline(timeout: float) -> Callable[[], float]:
    """The seconds left for the next of several requests; the last one gets at least one."""
    end = time.monotonic() + timeout
    return lambda: max(end - time.monotonic(), 1.0)


def pages(faults: Faults) -> Iterator[int]:
    """Counts the pages of a list; raises if it does not end. Not found would prove nothing."""
    yield from range(MOST_PAGES)
    raise faults.garbage(f"a list of more than {MOST_PAGES} pages")


def named(found: object, faults: Faults) -> str:
    """The name that the service gave to a batch or a file."""
    if not isinstance(found, str) or not found:
        raise faults.garbage("an answer without a name")
    return found
