"""Pictures that come by batch: within a day, and outside the line of those that are made now."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q

from guides.models import Guide, SpotImageJob
from guides.strategies import PictureStrategy
from jobs.models import Call, JobQuerySet, Provider, State, Status, Strategy
from jobs.paid import limits
from jobs.paid.batches import queries
from jobs.paid.batches.strategy import offers_batches, takes_batches
from jobs.paid.clients import services
from jobs.paid.waiting import LASTING, Wait

A_DAY = timedelta(days=1)
# Without those that a person hurried before a batch had collected them.
IN_BATCH = (Q(state=State.WAITING) & ~Q(strategy=Strategy.SYNC)) | Q(
    state__in=[State.WAITING, State.INTENT], batch_id__isnull=False
)


def find_later(
    plan_id: str, jobs: Mapping[str, Any], waits: Mapping[str, Wait], provider: Provider | None
) -> dict[str, str]:
    """The spots whose picture waits in a batch, or will join one: "tomorrow" or "late"."""
    if not jobs or provider is None or not offers_batches(provider):
        return {}
    calls = {id: call for id, call in queries.of_jobs(jobs.values()).items() if not hurried(call)}
    joins = takes_batches(provider, strategy_of(plan_id))
    found = {}
    for name, job in jobs.items():
        if call := calls.get(job.id):
            found[name] = "late" if is_late(call, job.now) else "tomorrow"
        elif joins and will_join(job, waits.get(name)):
            found[name] = "tomorrow"
    return found


def slow_guides(guides: Iterable[Guide]) -> set[str]:
    """Those of the guides whose pictures are made in batches."""
    name = SpotImageJob.provider_name()
    if not services.has_batches(name):
        return set()
    provider = limits.find(name)
    return {guide.pk for guide in guides if takes_batches(provider, guide.picture_strategy)}


def strategy_of(plan_id: str) -> str:
    return Guide.objects.filter(pk=plan_id).values_list("picture_strategy", flat=True).first() or ""


def will_join(job: Any, wait: Wait | None) -> bool:
    """Whether it waits in line for nothing but to be put into a batch."""
    is_new = job.status == Status.QUEUED and not job.epoch
    return is_new and wait is not None and wait.reason not in LASTING


def hurried(call: Call) -> bool:
    """Whether it is made at once now, although it waited for a batch."""
    return call.strategy == Strategy.SYNC and not call.is_in_batch


def is_late(call: Call, now: datetime) -> bool:
    """Whether a day has passed, so that "by tomorrow" would not be true any more."""
    return now - call.started_at > A_DAY


def without_batches(jobs: JobQuerySet, provider: Provider | None) -> JobQuerySet:
    """Those of the jobs that need a slot: not those in a batch, nor those that will join one."""
    if provider is None or not offers_batches(provider):
        return jobs
    in_batch = Call.objects.filter(IN_BATCH, job_id=OuterRef("id"))
    guides = Guide.objects.filter(pk=OuterRef("plan_id"))
    apart = jobs.exclude(Exists(in_batch))
    if takes_batches(provider):
        return apart.filter(Exists(guides.filter(picture_strategy=PictureStrategy.SYNC)))
    return apart.exclude(Exists(guides.filter(picture_strategy=PictureStrategy.BATCH)))
