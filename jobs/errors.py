"""Errors of the queue. First those that `perform` may raise: their type decides the next move.

Any other exception means "try again later" and uses an attempt.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal


class PermanentError(Exception):
    """Trying again cannot help: the job fails now."""


class Snooze(Exception):
    """Not yet: the job comes back after `seconds`, without using an attempt."""

    def __init__(self, seconds: float, reason: str = "") -> None:
        super().__init__(reason or f"snoozed for {seconds} s")
        self.seconds = seconds


class InBatch(Snooze):
    """Its call is made in a batch: the batch wakes the job when the answer is there."""


class NoTime(Snooze):
    """The call could outlast its worker, whose time is limited: it was not begun."""


class Cancel(Exception):
    """The job is no longer needed: it is canceled with this reason."""


class ProviderUnavailable(Exception):
    """The provider's fault, not the job's: the job comes back later, without using an attempt."""

    billed = False

    def __init__(self, retry_after: float | None = None, reason: str = "") -> None:
        super().__init__(reason or "the provider is unavailable")
        self.retry_after = retry_after


class LeaseLost(Exception):
    """This run should stop. If its claim still holds, the job is released without an attempt."""


class TimedOut(Exception):
    """The run took longer than its model's `timeout`."""


class Poisonous(Exception):
    """The job's worker died or vanished too often while it ran."""


class OutOfPatience(Exception):
    """The provider was unavailable for longer than the model's `patience`."""


class NotEnded(Exception):
    """Only ended jobs can be deleted."""


class ProcessEnded(Exception):
    """Jobs can join a process only while it is open."""


class InvalidEvent(ValueError):
    """An event can't be recorded as it is. The text names every value that is wrong."""


class UnknownEvent(LookupError):
    """Nothing declares or handles events of this kind."""


class HandlerMissing(PermanentError):
    """An event's job names a handler that the code does not have."""


# Errors of paid calls. `billed` says whether the call may have been billed. Only the price of a
# call that certainly was not billed returns to the budget. Other exceptions count as billed.


class NoRoom(Exception):
    """The provider is paused, out of tokens or out of budget: the job goes back to the queue."""

    def __init__(
        self, reason: str, wait: float | None = None, short_of: "Decimal | None" = None
    ) -> None:
        super().__init__(reason)
        self.wait = wait  # seconds, if it is known and short
        self.short_of = short_of  # the most that the call can cost, if the budget does not cover it


class TooDear(PermanentError):
    """The call may cost more than the whole budget of a day."""

    billed = False


class TooLate(LeaseLost):
    """The request was not sent: its claim may be gone, or too much time has passed."""

    billed = False


class AnswerLost(ProviderUnavailable):
    """The request may have been accepted, but its answer did not arrive."""

    billed = True


class OutcomeUnknown(PermanentError):
    """Answers to this request were lost too often: a person must decide whether to ask again."""


class AnswerGone(PermanentError):
    """A stored answer is missing: a person must look before it is bought again."""


class OperatorsFault(ProviderUnavailable):
    """Key, account, model name or storage: a person must fix it, so the provider is paused."""


class RequestRefused(PermanentError):
    """The provider refused the request: its content policy forbids it."""

    billed = False


class BadRequest(PermanentError):
    """The provider says that the request is invalid: sending it again can't help."""

    billed = False


class GarbageAnswer(Exception):
    """The provider answered, but not with what was asked for. Uses an attempt."""

    billed = True


class StorageUnavailable(ProviderUnavailable):
    """A file could not be stored or read; a later try may succeed."""


class StorageRefused(OperatorsFault):
    """The storage rejects the credentials, or has no such bucket."""


class BatchGone(OperatorsFault):
    """The service does not know a batch of ours: a person must look. It may have been billed."""

    billed = True


class NoBatches(ProviderUnavailable):
    """The service has no batches: its calls are made at once."""


class BatchTooLarge(ProviderUnavailable):
    """The account allows no batch of this size now: wait, then send a smaller one."""
