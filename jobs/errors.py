"""Errors of the queue: first those that `perform` may raise, whose type decides what follows.

Anything else that it raises means "try again later" and uses an attempt.
"""


class PermanentError(Exception):
    """Trying again cannot help: the job fails now."""


class Snooze(Exception):
    """Not yet: the job comes back after so many seconds, without using an attempt."""

    def __init__(self, seconds: float, reason: str = "") -> None:
        super().__init__(reason or f"snoozed for {seconds} s")
        self.seconds = seconds


class Cancel(Exception):
    """There is nothing left to do: the job is canceled with this reason."""


class ProviderUnavailable(Exception):
    """The provider's fault, not the job's: it comes back later, without using an attempt."""

    billed = False

    def __init__(self, retry_after: float | None = None, reason: str = "") -> None:
        super().__init__(reason or "the provider is unavailable")
        self.retry_after = retry_after


class LeaseLost(Exception):
    """This run should stop. If the claim is still ours, it is released without an attempt."""


class TimedOut(Exception):
    """The run took longer than its model's `timeout`."""


class Poisonous(Exception):
    """The job's worker died or vanished too often while it ran."""


class OutOfPatience(Exception):
    """The provider was unavailable for longer than the model's `patience`."""


class NotEnded(Exception):
    """Only ended jobs can be deleted."""


# What can become of a paid call. `billed` says whether it may have to be paid for: only what
# certainly was not is given back to the budget. Any other exception may have been billed.


class NoRoom(Exception):
    """The provider is paused, out of tokens or out of budget: the job goes back to the queue."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait  # seconds, if it is known and not a matter of hours


class TooLate(LeaseLost):
    """The request was not sent: its claim may be gone, or its moment has passed."""

    billed = False


class AnswerLost(ProviderUnavailable):
    """The request may have been accepted, but its answer did not arrive: nobody knows."""

    billed = True


class OutcomeUnknown(PermanentError):
    """Answers to this request were lost too often: a person must decide whether to ask again."""


class AnswerGone(PermanentError):
    """An answer that was stored is not there: a person must look before it is bought again."""


class OperatorsFault(ProviderUnavailable):
    """Key, account, model name or storage: a person must mend it, so the provider is paused."""


class RequestRefused(PermanentError):
    """The provider answered, and will not do this: its content policy forbids it."""

    billed = False


class BadRequest(PermanentError):
    """The provider says that our request makes no sense: sending it again can't help."""

    billed = False


class GarbageAnswer(Exception):
    """The provider answered, but not with what was asked for. Uses an attempt."""

    billed = True


class StorageUnavailable(ProviderUnavailable):
    """A file could not be stored or read just now."""


class StorageRefused(OperatorsFault):
    """The storage does not accept our credentials, or has no such bucket."""
