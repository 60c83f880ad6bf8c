"""What the console says about batches: how far they are, what that means, what they cost."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Count, Sum, TextChoices
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobs.console import shown
from jobs.models import ENDED, Call, State, Status
from jobs.paid.batches.models import Batch

TOO_OLD = timedelta(hours=26)  # providers promise a day


class Stage(TextChoices):
    """Where a batch is, in words for people; the provider's own word is its `state`."""

    COLLECTING = "collecting", gettext_lazy("collecting")
    PREPARED = "prepared", gettext_lazy("not sent yet")
    UNCERTAIN = "uncertain", gettext_lazy("creation uncertain")
    SUBMITTED = "submitted", gettext_lazy("at the provider")
    CANCELING = "canceling", gettext_lazy("being canceled")
    FETCHING = "fetching", gettext_lazy("fetching results")
    DONE = "done", gettext_lazy("done")
    FAILED = "failed", gettext_lazy("failed")
    CANCELED = "canceled", gettext_lazy("canceled")


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
    Stage.FAILED: gettext_lazy(
        "It has given up, and its calls wait. Requeue it: it goes on where it stopped, and creates"
        " nothing twice."
    ),
    Stage.CANCELED: gettext_lazy("It was ended without results."),
}
COLOURS = {
    Stage.COLLECTING.value: "info",
    Stage.PREPARED.value: "info",
    Stage.UNCERTAIN.value: "warning",
    Stage.SUBMITTED.value: "info",
    Stage.CANCELING.value: "warning",
    Stage.FETCHING.value: "info",
    Stage.DONE.value: "success",
    Stage.FAILED.value: "danger",
    Stage.CANCELED.value: "plain",
}
BY_STATUS = {
    Status.SUCCEEDED.value: Stage.DONE,
    Status.FAILED.value: Stage.FAILED,
    Status.CANCELED.value: Stage.CANCELED,
}


def stage(batch: Batch) -> Stage:
    if batch.status in BY_STATUS:
        return BY_STATUS[batch.status]
    if batch.ended_at:
        return Stage.FETCHING
    if batch.cancel_asked:
        return Stage.CANCELING
    if batch.remote_id:
        return Stage.SUBMITTED
    if batch.create_sent_at:
        return Stage.UNCERTAIN
    return Stage.PREPARED if batch.collected_at else Stage.COLLECTING


@dataclass(frozen=True)
class Standing:
    """A batch at one moment."""

    batch: Batch
    now: datetime
    members: Mapping[str, int] = field(default_factory=dict)  # its calls by state, as we know them
    cost: Decimal = Decimal(0)

    @property
    def stage(self) -> Stage:
        return stage(self.batch)

    @property
    def meaning(self) -> str:
        return str(MEANINGS[self.stage])

    @property
    def colour(self) -> str:
        return COLOURS[self.stage]

    @property
    def has_counts(self) -> bool:
        """Whether the provider has told how far it is."""
        return bool(self.batch.submitted_at and self.batch.total)

    @property
    def percent(self) -> int:
        """Of its calls, rounded down, by the provider's counts."""
        batch = self.batch
        return min(100, 100 * (batch.done + batch.failed) // batch.total) if batch.total else 0

    @property
    def size(self) -> int:
        """Its calls. While it collects, those that wait are not its own yet."""
        return self.batch.total or sum(self.members.values())

    @property
    def time(self) -> str:
        """How long the provider has had it, or took; before that, how old it is."""
        since = self.batch.submitted_at or self.batch.created_at
        until = self.batch.ended_at or self.batch.finished_at or self.now
        return shown.short(until - since)

    @property
    def is_living(self) -> bool:
        return self.batch.status not in ENDED

    @property
    def is_too_old(self) -> bool:
        since = self.batch.submitted_at
        is_out = self.is_living and since is not None and self.batch.ended_at is None
        return is_out and since is not None and self.now - since > TOO_OLD

    @property
    def text(self) -> str:
        """In one line, for people who wait for it."""
        facts = {
            "number": shown.number(self.size),
            "provider": self.batch.provider,
            "percent": self.percent,
            "time": self.time,
            "stage": self.stage.label,
        }
        if self.stage == Stage.COLLECTING:
            return _("the next batch at %(provider)s is being collected") % facts
        if self.stage in (Stage.SUBMITTED, Stage.CANCELING) and self.has_counts:
            return _("batch of %(number)s at %(provider)s, %(percent)s %% after %(time)s") % facts
        return _("batch of %(number)s at %(provider)s: %(stage)s") % facts


def look(batches: Iterable[Batch], now: datetime) -> list[Standing]:
    """These batches with their members and cost, in one query for all."""
    batches = list(batches)
    members: dict[UUID, dict[str, int]] = defaultdict(dict)
    costs: dict[UUID, Decimal] = defaultdict(Decimal)
    for row in _sums([batch.pk for batch in batches]):
        members[row["batch_id"]][row["state"]] = row["many"]
        if row["state"] not in (State.WAITING, State.INTENT):  # these are only booked
            costs[row["batch_id"]] += row["spent"] or 0
    return [Standing(batch, now, members[batch.pk], costs[batch.pk]) for batch in batches]


def _sums(ids: list[UUID]) -> Any:
    if not ids:
        return []
    calls = Call.objects.filter(batch_id__in=ids).order_by()
    return calls.values("batch_id", "state").annotate(many=Count("pk"), spent=Sum("cost"))


def too_old(now: datetime) -> Any:
    """Batches that the provider has had for longer than it promises."""
    living = Batch.objects.living()
    return living.filter(submitted_at__lt=now - TOO_OLD, ended_at=None)


def waiting(batch: Batch) -> Any:
    """Its calls that cost nothing yet, so that they can be made at once instead.

    While it collects, every waiting call of its provider is about to join it.
    """
    calls = Call.objects.filter(state=State.WAITING)
    if stage(batch) == Stage.COLLECTING:
        return calls.filter(provider=batch.provider)
    return calls.filter(batch_id=batch.pk)
