"""Pictures that come by batch: within a day, and outside the line of those that are made now."""

from collections.abc import Collection, Hashable, Iterable, Mapping
from datetime import datetime, time, timedelta
from typing import Any, TypeVar

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.utils import timezone

from guides.models import Guide, SpotDetail, SpotImageJob
from guides.strategies import PictureStrategy
from jobs.models import Call, JobQuerySet, Provider, State, Status
from jobs.paid import limits, waiting
from jobs.paid.batches import queries
from jobs.paid.batches.strategy import offers_batches, takes_batches
from jobs.paid.clients import services
from jobs.paid.waiting import Reason, Wait

A_DAY = timedelta(days=1)
NEW = Q(status=Status.QUEUED, epoch=0)  # no worker has seen it yet

NameT = TypeVar("NameT", bound=Hashable)


def find_later(
    jobs: Mapping[NameT, Any], waits: Mapping[NameT, Wait], provider: Provider | None
) -> dict[NameT, str]:
    """The spots whose picture is in a batch, or will join one: "tomorrow" or "late".

    Empty for spots whose batch is held up: `find_hold` says by what. While the kind of job is
    paused, none of them arrives, not even those that a batch has answered.
    """
    if not jobs or provider is None or not offers_batches(provider):
        return {}
    if any(wait.reason == Reason.KIND_PAUSED for wait in waits.values()):
        return {}
    calls = queries.of_jobs(jobs.values())
    begins = first_waits(calls.values())
    strategies = strategies_of({job.plan_id for job in jobs.values()})
    hold = find_hold(provider)
    found = {}
    for name, job in jobs.items():
        if call := calls.get(job.id):
            is_sent = call.state == State.INTENT
            found[name] = by_when(begins[call.key], job.now) if is_sent or not hold else ""
        elif will_join(job, strategies.get(job.plan_id, ""), waits.get(name), provider):
            found[name] = "" if hold else by_when(job.created_at, job.now)
    return found


def tell_later(spots: Iterable[SpotDetail]) -> None:
    """Tell these few spots when their pictures come by batch, as the pages of their guides do."""
    loading = {
        (spot.guide_id, spot.spot_name): spot for spot in spots if spot.picture_state == "loading"
    }
    provider = find_provider() if loading else None
    if provider is None:
        return
    plan_ids, names = zip(*loading, strict=True)
    known: Any = SpotImageJob.objects.living().annotate(now=Now())
    found = known.filter(plan_id__in=plan_ids, spot_name__in=names)
    jobs = {(job.plan_id, job.spot_name): job for job in found}
    wanted = {name: job for name, job in jobs.items() if name in loading}
    pause = waiting.pause_of(SpotImageJob)
    waits = {name: waiting.waits_for(job, provider, pause) for name, job in wanted.items()}
    queued = {name: wait for name, wait in waits.items() if wait}
    for name, when in find_later(wanted, queued, provider).items():
        loading[name].comes_later = when


def slow_guides(plan_ids: Collection[str]) -> set[str]:
    """Those of the guides whose pictures that are still to come all come by batch."""
    provider = find_provider() if plan_ids else None
    if provider is None:
        return set()
    in_batch = Exists(Call.objects.for_batch().filter(job_id=OuterRef("id")))
    jobs: Any = SpotImageJob.objects.living().filter(plan_id__in=plan_ids)  # type: ignore[misc]
    facts = jobs.order_by().annotate(in_batch=in_batch, is_new=NEW)
    kinds = list(facts.values_list("plan_id", "in_batch", "is_new").distinct())
    strategies = strategies_of(plan_ids)
    quick = {
        plan_id
        for plan_id, in_batch, is_new in kinds
        if not in_batch and not (is_new and takes_batches(provider, strategies.get(plan_id, "")))
    }
    return {plan_id for plan_id, *_ in kinds} - quick


def find_provider() -> Provider | None:
    """The provider of the pictures; None if it has no batches."""
    name = SpotImageJob.provider_name()
    provider = limits.find(name) if services.has_batches(name) else None
    return provider if provider and offers_batches(provider) else None


def strategies_of(plan_ids: Collection[str]) -> dict[str, str]:
    return dict(Guide.objects.filter(pk__in=plan_ids).values_list("pk", "picture_strategy"))


def find_hold(provider: Provider) -> Wait | None:
    """Why no batch is sent now: a pause, a missing price, or a budget that covers no picture."""
    if provider.is_paused or provider.lacks_price:
        return waiting.closed(provider)
    cost, budget, left = provider.cost(batch=True), provider.daily_budget, provider.left_today
    if budget is None or left is None or left >= cost:
        return None
    midnight = timezone.make_aware(datetime.combine(provider.booking_day + A_DAY, time()))
    return Wait(Reason.BUDGET, midnight if budget >= cost else None)


def will_join(job: Any, strategy: str, wait: Wait | None, provider: Provider) -> bool:
    """Whether the first worker that claims it will put it into a batch.

    At a provider whose calls are made at once, a claim looks at the price of one made at once.
    """
    is_new = job.status == Status.QUEUED and not job.epoch
    is_claimed = takes_batches(provider) or wait is None or wait.reason != Reason.BUDGET
    return is_new and is_claimed and takes_batches(provider, strategy)


def first_waits(calls: Iterable[Call]) -> dict[str, datetime]:
    """By key: when the call began to wait, or the first of those that no batch has answered."""
    first = {call.key: call for call in calls}
    repeated = [call.key for call in first.values() if call.number > 1]
    if repeated:
        unanswered = Call.objects.filter(key__in=repeated, state=State.FAILED, error_kind="")
        for call in unanswered.exclude(batch_id=None).order_by("-number"):
            if call.number == first[call.key].number - 1:  # else a person asked in between
                first[call.key] = call
    return {key: call.started_at for key, call in first.items()}


def by_when(begin: datetime, now: datetime) -> str:
    """After a day, "by tomorrow" would not be true any more."""
    return "late" if now - begin > A_DAY else "tomorrow"


def without_batches(jobs: JobQuerySet, provider: Provider | None) -> JobQuerySet:
    """Those of the jobs that need a slot: not those in a batch, nor those that will join one."""
    if provider is None or not offers_batches(provider):
        return jobs
    calls = Call.objects.filter(job_id=OuterRef("id"))
    guides = Guide.objects.filter(pk=OuterRef("plan_id"))
    apart = jobs.exclude(Exists(calls.for_batch()))
    is_hurried = Exists(calls.uncollected())  # for no batch, and yet it waits
    if takes_batches(provider):
        now = guides.filter(picture_strategy=PictureStrategy.SYNC)
        return apart.filter(Exists(now) | is_hurried)
    later = guides.filter(picture_strategy=PictureStrategy.BATCH)
    return apart.exclude(Exists(later) & ~is_hurried)
