"""What the console says about batches: how far they are, what that means, what they cost."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Case, Count, F, Q, Sum, TextField, Value, When
from django.utils.translation import gettext as _

from jobs import settings
from jobs.console import shown
from jobs.console.stages import COLOURS, MEANINGS, Stage, stage
from jobs.models import ENDED, Call, Provider, State, Status, Strategy
from jobs.models.call import CallQuerySet
from jobs.paid.batches.models import Batch
from jobs.paid.waiting import Reason, closed, pause_of, paused

TOO_OLD = timedelta(hours=26)  # providers promise a day
AGAIN = "again"  # beside the states of calls: not answered, and so asked again by another call


@dataclass(frozen=True)
class Standing:
    """A batch at one moment."""

    batch: Batch
    now: datetime
    members: Mapping[str, int] = field(default_factory=dict)  # its calls by state, or AGAIN
    cost: Decimal = Decimal(0)

    @property
    def stage(self) -> Stage:
        return stage(self.batch, self.unanswered)

    @property
    def unanswered(self) -> int:
        """Calls of an ended batch that wait again: another call asks, or they left the batch."""
        if self.has_left:
            return max(self.batch.total - self.ended, 0)
        released = self.batch.total - sum(self.members.values())
        return self.members.get(AGAIN, 0) + max(released, 0)

    @property
    def has_left(self) -> bool:
        """Whether calls of it are in the archive: then only the batch's own columns know all."""
        days, finished_at = settings.LOG_RETENTION_DAYS_DB, self.batch.finished_at
        if not (self.is_over and days and finished_at):
            return False
        kept = self.members.get(State.STORED, 0) + self.members.get(State.FAILED, 0)
        is_old = self.now - finished_at > timedelta(days=days - 1)  # its jobs may end before it
        return is_old and self.batch.done + self.batch.failed > kept

    @property
    def meaning(self) -> str:
        return str(MEANINGS[self.stage])

    @property
    def colour(self) -> str:
        return COLOURS[self.stage]

    @property
    def done(self) -> int:
        """By the provider's counts; at the end, the answers that we have."""
        is_counted = self.is_over and not self.has_left
        return self.members.get(State.STORED, 0) if is_counted else self.batch.done

    @property
    def failed(self) -> int:
        """By the provider's counts; at the end, the calls whose jobs got an error."""
        is_counted = self.is_over and not self.has_left
        return self.members.get(State.FAILED, 0) if is_counted else self.batch.failed

    @property
    def ended(self) -> int:
        return self.done + self.failed

    @property
    def has_counts(self) -> bool:
        """Whether it is known how far it is. Until something is done, 0 may mean "not told"."""
        return bool(self.batch.submitted_at and self.batch.total and (self.ended or self.is_over))

    @property
    def percent(self) -> int:
        """Of its calls, rounded down."""
        return min(100, 100 * self.ended // self.batch.total) if self.batch.total else 0

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
    def is_over(self) -> bool:
        """Whether its results were handed out. A failed one may go on."""
        return self.batch.status in ENDED and self.batch.status != Status.FAILED

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
    """These batches, in one query for those that the provider has ended.

    The calls of the others are booked or wait; their columns say enough.
    """
    batches = list(batches)
    sums = _sums([batch for batch in batches if batch.ended_at or batch.status in ENDED])
    return [Standing(batch, now, *sums.get(batch.pk, ())) for batch in batches]


def look_into(batch: Batch, now: datetime) -> Standing:
    """One batch with its calls, whatever its stage."""
    return Standing(batch, now, *_sums([batch]).get(batch.pk, ()))


Sums = tuple[Mapping[str, int], Decimal]  # the calls by state, and what they cost
MOST_KNOWN = 1000
_known: dict[UUID, Sums] = {}  # of batches that are over, with all their calls


def _sums(batches: list[Batch]) -> dict[UUID, Sums]:
    """Lists that renew themselves must not add up thousands of calls each time."""
    found = {batch.pk: _known[batch.pk] for batch in batches if batch.pk in _known}
    found |= _add_up([batch.pk for batch in batches if batch.pk not in found])
    if len(_known) > MOST_KNOWN:
        _known.clear()
    over = {batch.pk for batch in batches if batch.status == Status.SUCCEEDED}
    final = {State.STORED.value, State.FAILED.value, AGAIN}
    _known.update({id: found[id] for id in over & set(found) if final.issuperset(found[id][0])})
    return found


def _add_up(ids: list[UUID]) -> dict[UUID, Sums]:
    if not ids:
        return {}
    members: dict[UUID, dict[str, int]] = defaultdict(dict)
    costs: dict[UUID, Decimal] = defaultdict(Decimal)
    for id, state, number, cost in _groups(ids):
        members[id][state] = number
        if state not in (State.WAITING, State.INTENT):  # these are only booked
            costs[id] += cost or 0
    return {id: (counts, costs[id]) for id, counts in members.items()}


def _groups(ids: list[UUID]) -> Any:
    is_again = Q(state=State.FAILED, error_kind="")  # see `members.told`
    known = Case(When(is_again, then=Value(AGAIN)), default=F("state"), output_field=TextField())
    calls = Call.objects.filter(batch_id__in=ids).order_by().annotate(known=known)
    groups = calls.values("batch_id", "known").annotate(many=Count("pk"), spent=Sum("cost"))
    return groups.values_list("batch_id", "known", "many", "spent")


def too_old(now: datetime) -> Any:
    """Batches that the provider has had for longer than it promises."""
    living = Batch.objects.living()
    return living.filter(submitted_at__lt=now - TOO_OLD, ended_at=None)


def waiting(batch: Batch) -> CallQuerySet:
    """Calls that are about to join it, so that they can be made at once instead.

    Once it has collected its calls, they stay in it.
    """
    if stage(batch) != Stage.COLLECTING:
        return Call.objects.none()
    return hurriable(Call.objects.filter(provider=batch.provider))


def hurriable(calls: CallQuerySet) -> CallQuerySet:
    """Those of these calls that can be made at once: no batch has them, and none is hurried yet."""
    return calls.uncollected().exclude(strategy=Strategy.SYNC)


def held_up(names: Collection[str]) -> dict[str, str]:
    """Why the next batches of these providers are not sent, for those that are not."""
    if not names:
        return {}
    if pause := pause_of(Batch):
        return dict.fromkeys(names, paused(pause).text)
    rows = Provider.objects.with_now().filter(name__in=list(names))
    found = {row.name: _held_up(row) for row in rows}
    return {name: text for name, text in found.items() if text}


def _held_up(provider: Provider) -> str:
    """A budget that is too small for a call at once may still cover one in a batch."""
    wait = closed(provider)
    if wait and wait.reason in (Reason.PAUSED, Reason.PRICE):
        return wait.text
    left = provider.left_today
    needed = max(provider.cost(batch=True), provider.short_of or 0)
    if left is None or (left and left >= needed):
        return ""
    return wait.text if wait and wait.reason == Reason.BUDGET else str(Reason.BUDGET.label)
