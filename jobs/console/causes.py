"""Why a job failed or waits, in words instead of class names."""

import re
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobs.models import ENDED, Attempt, Job, Outcome

# Every class of jobs/errors.py, of the paid clients and of the queue that a row may name.
WORDS: dict[str, Any] = {
    "PermanentError": gettext_lazy("trying again can't help"),
    "Snooze": gettext_lazy("put off by the job itself"),
    "Cancel": gettext_lazy("canceled"),
    "ProviderUnavailable": gettext_lazy("provider unavailable"),
    "LeaseLost": gettext_lazy("worker lost the job"),
    "TimedOut": gettext_lazy("timed out"),
    "Poisonous": gettext_lazy("workers died while it ran"),
    "OutOfPatience": gettext_lazy("provider unavailable for too long"),
    "ProcessEnded": gettext_lazy("its process has ended"),
    "InvalidEvent": gettext_lazy("invalid event"),
    "UnknownEvent": gettext_lazy("unknown kind of event"),
    "HandlerMissing": gettext_lazy("its handler is not in the code"),
    "TaskMissing": gettext_lazy("its task is not in the code"),
    "InBatch": gettext_lazy("in a batch"),
    "NoTime": gettext_lazy("no time left for its call"),
    "BatchGone": gettext_lazy("batch unknown to the provider"),
    "NoBatches": gettext_lazy("provider without batches"),
    "BatchTooLarge": gettext_lazy("batch too large for the account"),
    "NotEnded": gettext_lazy("not ended yet"),
    "NoRoom": gettext_lazy("provider's limits reached"),
    "TooLate": gettext_lazy("request not sent in time"),
    "AnswerLost": gettext_lazy("answer lost"),
    "OutcomeUnknown": gettext_lazy("outcome unknown"),
    "TooDear": gettext_lazy("dearer than the budget of a day"),
    "AnswerGone": gettext_lazy("stored answer missing"),
    "OperatorsFault": gettext_lazy("key, account or model refused"),
    "RequestRefused": gettext_lazy("refused by the content policy"),
    "BadRequest": gettext_lazy("invalid request"),
    "GarbageAnswer": gettext_lazy("unusable answer"),
    "StorageUnavailable": gettext_lazy("storage unavailable"),
    "StorageRefused": gettext_lazy("storage refuses access"),
    "Declined": gettext_lazy("declined by the provider"),
    "NotSent": gettext_lazy("request not sent"),
    "Lost": gettext_lazy("answer lost"),
    "Unusable": gettext_lazy("unusable answer"),
    "SwallowedError": gettext_lazy("a hook hid a database error"),
}
CLASS_NAME = re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*")
HASH = re.compile(r"\b([0-9a-f]{8})[0-9a-f]{24,}\b")
LONGEST = 160
# Outcomes that write `last_error`.
TOLD = (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.LOST, Outcome.UNAVAILABLE, Outcome.CANCELED)


def words(kind: str | None, model: type[Job]) -> str:
    """The cause behind an error's kind; a job model names the causes of its own errors."""
    if not kind:
        return ""
    if known := model.causes.get(kind) or WORDS.get(kind):
        return str(known)
    if CLASS_NAME.fullmatch(kind):
        return _("unexpected error (%s)") % kind
    return kind


def beginning(text: str | None, longest: int = LONGEST) -> str:
    """The first words of a message in one line; a long file name must not push them out."""
    line = " ".join(HASH.sub(r"\1…", text or "").split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def reason(job: Job, longest: int = LONGEST) -> str:
    """The cause in words, then the beginning of the message."""
    parts = [words(job.error_kind, type(job)), beginning(job.last_error, longest)]
    return " – ".join(filter(None, parts))


def is_past(job: Job, attempts: list[Attempt]) -> bool:
    """Whether the job was requeued after its last error, which the row keeps until a run ends.

    `attempts` are the newest ones, newest first. Every claim raises the epoch by one, and so do
    the ends that take a job from its worker. Whatever is missing in between was a requeue.
    """
    if job.status in ENDED or not job.last_error:
        return False
    if job.attempts or job.interruptions or job.unavailable_since:
        return False  # a requeue would have reset them
    after = job.epoch - (1 if job.locked_by else 0)  # before the claim that runs now
    for attempt in attempts:
        if after > attempt.epoch + (attempt.outcome in (Outcome.LOST, Outcome.CANCELED)):
            return True
        if attempt.outcome in TOLD:
            return False
        after = attempt.epoch - 1
    return True
