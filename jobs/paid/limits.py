"""How many calls may start: look, take. A provider's row holds for every worker.

A claim looks, so that no worker holds jobs that can't start. The intent of a paid call takes.
Both lock the provider's row, always before the rows of jobs.
"""

import logging
import math
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Exists, F, OuterRef, Q
from django.db.models.functions import Now

from jobs import settings
from jobs.db import sessions
from jobs.errors import NoRoom, NoTime, TooDear
from jobs.models import Call, Job, Provider, Strategy, job_models

log = logging.getLogger(__name__)

# A claim counts tokens that come soon. Otherwise each token would wait for the next poll.
AHEAD = timedelta(seconds=2)
STARTING = timedelta(seconds=10)  # between a claim and its call
KEEPING = 2.0  # seconds for storing the last answer and settling, where a worker's time is limited


def find(name: str) -> Provider:
    """The provider's row with the database's time; created on first use."""
    provider = _find(name)
    if provider.most_running is not None:
        provider.running, _ = count_running(name)
    return provider


def _find(name: str) -> Provider:
    return Provider.objects.with_now().filter(name=name).first() or _make(name)


def _make(name: str) -> Provider:
    """Create it with the default budget, which covers no call until a person sets the price."""
    budget = {"daily_budget": settings.DEFAULT_DAILY_BUDGET}
    columns = {"requests_per_minute": None} if is_free(name) else budget
    for model in job_models():
        if model.provider_name() == name:
            columns |= model.provider_defaults()
    Provider.objects.bulk_create([Provider(name=name, **columns)], ignore_conflicts=True)
    return Provider.objects.with_now().get(name=name)


def is_free(name: str | None) -> bool:
    """Whether the jobs of this provider say that it costs nothing."""
    return any(model.provider_name() == name and model.provider_is_free() for model in job_models())


def make_rows(models: Iterable[type[Job]]) -> None:
    """Create the missing rows of these jobs' providers, and log which of them need a price."""
    for name in {name for model in models for name in model.provider_names()}:
        if find(name).lacks_price:
            log.warning("%s starts no call until a person sets its price, in the admin.", name)


def lock(name: str) -> Provider:
    """Like `find`, with the row locked until the transaction ends."""
    if not _lock(name):
        _make(name)
        _lock(name)
    # Read after locking: a statement's clock shows its start, before it waited for the lock.
    return Provider.objects.with_now().get(name=name)


def _lock(name: str) -> bool:
    return bool(Provider.objects.select_for_update().filter(name=name).values_list("name"))


# Look


def room(name: str | None, wanted: int, *, at_claim: bool = False) -> int:
    """How many jobs of this provider may be claimed now; `at_claim`, they take their tokens too."""
    if name is None or not wanted:
        return wanted
    provider = _find(name)
    if (provider.is_limited or at_claim) and not provider.is_paused:
        provider = lock(name)  # one claim at a time, so that the count is exact
    if provider.is_paused:
        return 0
    if not provider.is_limited:
        return wanted
    return _room_at_claim(provider, wanted) if at_claim else _room(provider, wanted)


def _room_at_claim(provider: Provider, wanted: int) -> int:
    """Each job makes one call at once, at the price of a call, even if others go by batch."""
    running, _ = count_running(provider.name)
    most = math.inf if provider.most_running is None else provider.most_running
    left, price = provider.left_today, provider.cost()
    # Without a price the budget would limit nothing.
    affordable = math.inf if left is None else float(left // price) if price else 0.0
    return max(0, int(min(wanted, most - running, provider.tokens(), affordable)))


def _room(provider: Provider, wanted: int) -> int:
    running, starting = count_running(provider.name)
    most = math.inf if provider.most_running is None else provider.most_running
    tokens = provider.tokens(AHEAD)
    hurried = Call.objects.uncollected().filter(provider=provider.name, strategy=Strategy.SYNC)
    if provider.is_batched and tokens >= 1 and not hurried.exists():
        tokens = math.inf  # only a job that chose to be at once takes one
    free = min(wanted, most - running, tokens - starting, provider.affordable - starting)
    return max(0, int(free))


def has_time(model: type[Job], time_left: float) -> bool:
    """Whether a worker that ends after this many seconds may claim jobs of this model."""
    name = model.provider_name()
    if name is None:
        return True
    provider = _find(name)
    fits = provider.timeout + KEEPING <= time_left
    return fits or provider.is_batched or is_free(name)


def refuse_without_time(seconds: float, time_left: float, wait: float = 1.0) -> None:
    """Raise NoTime if a call may outlast its worker: its answer would be paid for and lost.

    This worker claims no such job any more, so another one may take it after a short wait.
    """
    if seconds + KEEPING > time_left:
        why = f"The call may take {seconds:.0f} s, and its worker ends in {time_left:.0f} s."
        raise NoTime(max(1.0, wait), why)


def count_running(name: str) -> tuple[int, int]:
    """How many jobs are processing, and how many of them have not made their call yet."""
    called = Call.objects.filter(job_id=OuterRef("id"), epoch=OuterRef("epoch"))
    starting = Q(Q(locked_at__gt=Now() - STARTING), ~Exists(called))
    running = begun = 0
    for model in job_models():
        counted = model.objects.of_provider(name).processing()
        counts = counted.aggregate(all=Count("id"), starting=Count("id", filter=starting))
        running += counts["all"]
        begun += 0 if model.takes_at_claim else counts["starting"]
    return running, begun


# Take


def take(provider: Provider, cost: Decimal) -> None:
    """Take a token and book the most that the call can cost, on the locked row; or raise NoRoom."""
    refuse_if_closed(provider)
    refuse_beyond_budget(provider, cost)
    if provider.tokens() < 1:
        wait = provider.next_token_in.total_seconds()
        raise NoRoom(f"{provider} allows {provider.requests_per_minute} a minute.", wait)
    provider.full_at = provider.now + provider.debt + provider.interval
    provider.short_of = None
    provider.save(update_fields=["full_at", "short_of"])
    charge(provider, cost)


def take_at_claim(name: str, number: int) -> None:
    """Take tokens and book the price for claimed jobs that make one call each, unseen by us."""
    provider = lock(name)
    provider.full_at = provider.now + provider.debt + number * provider.interval
    provider.save(update_fields=["full_at"])
    charge(provider, number * provider.cost())


def refuse_if_closed(provider: Provider) -> None:
    if provider.is_paused:
        raise NoRoom(f"{provider} is paused: {provider.pause_reason}")
    if provider.lacks_price:
        raise NoRoom(f"{provider} has a budget, but its price is not set.")


def refuse_beyond_budget(provider: Provider, cost: Decimal) -> None:
    left = provider.left_today
    if left is None or cost <= left:
        return
    assert provider.daily_budget is not None
    if cost > max(provider.daily_budget, provider.price):
        raise TooDear(
            f"This call may cost {cost:f}, and the budget of {provider} is"
            f" {provider.daily_budget:f} a day. Lower max_tokens, or raise the budget in the admin."
        )
    raise NoRoom(
        f"{provider} has spent {provider.spent_today:f} of {provider.daily_budget:f}.",
        short_of=cost,
    )


def note_short(name: str, cost: Decimal) -> None:
    """Claim no job until this much is left of the budget: the next one may cost as much."""
    Provider.objects.filter(name=name).update(short_of=cost)


def charge(provider: Provider, cost: Decimal) -> None:
    """Book this cost, on the locked row."""
    provider.spent = provider.spent_today + cost
    provider.spent_on = provider.booking_day
    provider.save(update_fields=["spent", "spent_on"])


def give_back_token(name: str, full_at: datetime) -> None:
    """Undo the take that set `full_at`, unless another take followed or it was undone already."""
    with sessions.short_transaction():
        untouched = full_at - lock(name).interval
        Provider.objects.filter(name=name, full_at=full_at).update(full_at=untouched)


def book(name: str, difference: Decimal, day: date) -> None:
    """Correct what a call booked on that day cost; a later day's spending is not touched."""
    same_day = Provider.objects.filter(name=name, spent_on=day)
    if difference:
        same_day.update(spent=F("spent") + difference)
