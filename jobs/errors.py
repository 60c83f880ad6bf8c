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
