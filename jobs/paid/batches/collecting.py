"""Which waiting calls go into a batch: the oldest first, as many as limits and budget allow."""

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from django.db.models import TextField
from django.db.models.functions import Cast, Length, Now

from jobs import settings
from jobs.db import sessions
from jobs.errors import NoRoom, Snooze, TooDear
from jobs.models import Call, Provider, Strategy
from jobs.models.call import CallQuerySet
from jobs.paid import limits
from jobs.paid.batches import members, pace
from jobs.paid.batches.strategy import offers_batches, takes_batches
from jobs.tracing import logged

if TYPE_CHECKING:
    from jobs.paid.batches.models import Batch


@logged
def collect(batch: "Batch") -> int:
    """Take calls into the batch; returns how many."""
    _let_go(batch)
    _wake_hurried(batch)
    with sessions.short_transaction():
        provider = limits.lock(batch.provider)
        members.note(batch, collected_at=Now())  # before it looks: see `collect_soon`
        try:
            limits.refuse_if_closed(provider)
            chosen = _affordable(batch, _candidates(batch), provider)
        except NoRoom as closed:
            raise Snooze(pace.closed(batch), str(closed)) from None
        Call.objects.filter(pk__in=[call.pk for call in chosen]).update(batch_id=batch.id)
        form = form_of(chosen[0]) if chosen else ""
        members.note(batch, total=len(chosen), form=form)
        if waiting(batch.provider).exists():
            # The rest goes at once: it has waited long enough. The account may allow few calls.
            after = 0.0 if chosen else None
            larger = 2 * batch.most_calls if batch.most_calls else None  # grows again
            type(batch).objects.collect_soon(batch.provider, larger, after)
    return len(chosen)


def waiting(provider: str) -> CallQuerySet:
    """The calls that the next batch of this provider collects."""
    return Call.objects.uncollected().filter(provider=provider).exclude(strategy=Strategy.SYNC)


def _let_go(batch: "Batch") -> None:
    """If the strategy changed, make calls at once, but not those whose job chose a batch."""
    provider = limits.find(batch.provider)
    if not offers_batches(provider):
        members.make_at_once(waiting(batch.provider))
    elif not takes_batches(provider):
        members.make_at_once(waiting(batch.provider).filter(strategy=""))


def _wake_hurried(batch: "Batch") -> None:
    """Wake jobs whose calls are now made one by one; one that was put aside just now may sleep."""
    hurried = Call.objects.uncollected().filter(provider=batch.provider, strategy=Strategy.SYNC)
    are_awake = []
    for chunk in members.in_chunks(hurried.defer("request")):
        wanted = members.living(chunk)
        unwanted = {call.pk for call in chunk} - {call.pk for call in wanted}
        members.drop(hurried.filter(pk__in=unwanted))
        are_awake.append(members.wake(wanted))
    if not all(are_awake):
        raise Snooze(pace.SETTLING, "A job whose call is made at once has not settled yet.")


def _candidates(batch: "Batch") -> list[Call]:
    """As many as fit into one file, all of one form: a batch has one address.

    Calls whose job is gone or canceled are ended here.
    """
    most = min(batch.most_calls or settings.BATCH_MOST_CALLS, settings.BATCH_MOST_CALLS)
    room = settings.BATCH_MOST_BYTES
    fitting: list[Call] = []
    for chunk in _sized(batch.provider):
        wanted = members.living(chunk)
        unwanted = {call.pk for call in chunk} - {call.pk for call in wanted}
        if unwanted:
            members.drop(Call.objects.filter(pk__in=unwanted))
        for call in wanted:
            if fitting and form_of(call) != form_of(fitting[0]):
                continue
            room -= call.size  # type: ignore[attr-defined]
            if len(fitting) == most or (fitting and room < 0):
                return fitting
            fitting.append(call)
    return fitting


def _sized(provider: str) -> Iterator[list[Call]]:
    """The waiting calls that no other transaction holds, in the order of their ids.

    A few at a time: together their requests can be gigabytes.
    """
    sized = members.light(waiting(provider)).annotate(size=Length(Cast("request", TextField())))
    return members.in_chunks(sized.select_for_update(skip_locked=True))


def form_of(call: Call) -> str:
    return str(call.form or "")  # type: ignore[attr-defined]


def _affordable(batch: "Batch", calls: list[Call], provider: Provider) -> list[Call]:
    """Those that today's budget covers. A call that no day's budget covers is told so."""
    chosen: list[Call] = []
    dear: list[Call] = []
    total = Decimal(0)
    for call in calls:
        cost = members.cost_of(call, provider)
        try:
            limits.refuse_beyond_budget(provider, cost)
            limits.refuse_beyond_budget(provider, total + cost)
        except TooDear:
            if chosen:
                break
            dear.append(call)
            continue
        except NoRoom:
            if chosen or dear:
                break
            raise
        chosen.append(call)
        total += cost
    if dear:
        budget = f"{provider.daily_budget:f} a day"
        why = TooDear(
            f"This call may cost more than the whole budget of {provider}, {budget}. Lower"
            " max_tokens, or raise the budget in the admin."
        )
        same = Call.objects.filter(pk__in=[call.pk for call in dear])
        members.fail(same, why)
        same.update(batch_id=batch.id)  # so that the batch wakes their jobs
    return chosen
