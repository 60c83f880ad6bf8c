"""The stages of a batch, and what each of them means for people."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy

from jobs.models import ENDED, Status
from jobs.paid.batches.models import Batch


class Stage(TextChoices):
    """Where a batch is, in words for people; the provider's own word is its `state`."""

    COLLECTING = "collecting", gettext_lazy("collecting")
    PREPARED = "prepared", gettext_lazy("not sent yet")
    UNCERTAIN = "uncertain", gettext_lazy("creation uncertain")
    SUBMITTED = "submitted", gettext_lazy("at the provider")
    CANCELING = "canceling", gettext_lazy("being canceled")
    FETCHING = "fetching", gettext_lazy("fetching results")
    DONE = "done", gettext_lazy("done")
    PARTLY = "partly", gettext_lazy("ended early")
    UNSENT = "unsent", gettext_lazy("not sent")
    FAILED = "failed", gettext_lazy("failed")
    FAILED_UNCERTAIN = "failed_uncertain", gettext_lazy("failed, creation unknown")
    FAILED_UNSENT = "failed_unsent", gettext_lazy("failed, not sent")


MEANINGS = {
    Stage.COLLECTING: gettext_lazy("Calls join it for a short while, then it is sent."),
    Stage.PREPARED: gettext_lazy("Its calls are chosen. It costs nothing until it is created."),
    Stage.UNCERTAIN: gettext_lazy(
        "The request to create it was sent, but its answer is not known. It is looked for in the"
        " provider’s list by its token, and never created twice."
    ),
    Stage.SUBMITTED: gettext_lazy("The provider works on it. No worker is kept busy meanwhile."),
    Stage.CANCELING: gettext_lazy(
        "The provider was asked to stop, or will be at the next look. What is finished is used."
    ),
    Stage.FETCHING: gettext_lazy("The provider has ended it. Its results are fetched."),
    Stage.DONE: gettext_lazy("Every result was handed to its job."),
    Stage.PARTLY: gettext_lazy(
        "What was answered was handed to its job. What was not answered and not paid for waits"
        " again: for the next batch, or to be made at once."
    ),
    Stage.UNSENT: gettext_lazy(
        "It was not sent and cost nothing. Its calls wait again: for the next batch, or to be made"
        " at once."
    ),
    Stage.FAILED: gettext_lazy(
        "It has given up, and its calls wait. Requeue it: it goes on where it stopped, and creates"
        " nothing twice."
    ),
    Stage.FAILED_UNCERTAIN: gettext_lazy(
        "Whether the provider has it is not known. Its calls are unknown and count as paid; their"
        " jobs may have asked again. Look for its token in the provider’s list. Requeue it to look"
        " there once more: what is found is used."
    ),
    Stage.FAILED_UNSENT: gettext_lazy(
        "It has given up before it was sent, and cost nothing. The calls that it had collected"
        " have failed, and their jobs were told: requeue those jobs. Requeueing the batch does"
        " nothing for them."
    ),
}
COLOURS = {
    Stage.COLLECTING.value: "info",
    Stage.PREPARED.value: "info",
    Stage.UNCERTAIN.value: "warning",
    Stage.SUBMITTED.value: "info",
    Stage.CANCELING.value: "warning",
    Stage.FETCHING.value: "info",
    Stage.DONE.value: "success",
    Stage.PARTLY.value: "plain",
    Stage.UNSENT.value: "plain",
    Stage.FAILED.value: "danger",
    Stage.FAILED_UNCERTAIN.value: "danger",
    Stage.FAILED_UNSENT.value: "danger",
}


def stage(batch: Batch, unanswered: int = 0) -> Stage:
    """`unanswered` of its calls wait again, which matters once it has ended."""
    if batch.status == Status.FAILED:
        return _failed(batch)
    if batch.status in ENDED:
        return _ended(batch, unanswered)
    if batch.ended_at:
        return Stage.FETCHING
    if batch.remote_id:
        return Stage.CANCELING if batch.cancel_asked else Stage.SUBMITTED
    if batch.create_sent_at:
        return Stage.UNCERTAIN
    return Stage.PREPARED if batch.collected_at else Stage.COLLECTING


def _failed(batch: Batch) -> Stage:
    if batch.remote_id:
        return Stage.FAILED
    return Stage.FAILED_UNCERTAIN if batch.create_sent_at else Stage.FAILED_UNSENT


def _ended(batch: Batch, unanswered: int) -> Stage:
    if not batch.remote_id:
        return Stage.UNSENT
    return Stage.PARTLY if unanswered else Stage.DONE
