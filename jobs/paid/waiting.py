"""What a job waits for: one answer for the admin, the API and the command line."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.db import models
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobs.models import Job, Pause, Provider, Status
from jobs.paid import limits


class Reason(models.TextChoices):
    BATCH = "batch", gettext_lazy("in a batch")
    KIND_PAUSED = "kind_paused", gettext_lazy("this kind of job is paused")
    RETRY = "retry", gettext_lazy("waits for its next retry")
    PAUSED = "paused", gettext_lazy("the provider is paused")
    PRICE = "price", gettext_lazy("the provider's price is not set")
    BUDGET = "budget", gettext_lazy("today's budget is spent")
    BUSY = "busy", gettext_lazy("the provider's limit of jobs at once is reached")
    RATE = "rate_limit", gettext_lazy("the provider's requests per minute are used")
    TURN = "turn", gettext_lazy("waits for its turn")


LASTING = (Reason.KIND_PAUSED, Reason.PAUSED, Reason.PRICE, Reason.BUDGET)


@dataclass(frozen=True)
class Wait:
    """Why nothing starts now, and until when, if that is known."""

    reason: Reason
    until: datetime | None = None
    note: str = ""  # for operators: why it is paused

    @property
    def is_short(self) -> bool:
        return self.reason == Reason.RATE

    @property
    def text(self) -> str:
        """A text for people; a moment of another day is named with its date."""
        if self.until is None:
            if self.reason == Reason.BUDGET:  # a spent one is there again at midnight
                return _("the budget per day covers no call")
            return str(self.reason.label)
        end = timezone.localtime(self.until)
        is_today = end.date() == timezone.localdate()
        until = date_format(end, "H:i:s" if is_today else "Y-m-d H:i")
        return _("%(reason)s (until %(until)s)") % {"reason": self.reason.label, "until": until}


def waits_for(job: Job, provider: Provider | None, pause: Pause | None = None) -> Wait | None:
    """Why a queued job is not claimed yet; None if it runs or has ended.

    `provider` is the row from `limits.find()`, or None if the job has no provider. `pause` is
    that of its kind, from `pause_of()`.
    """
    if job.status != Status.QUEUED:
        return None
    if pause:
        return paused(pause)
    wait = closed(provider) if provider else None
    if wait and wait.reason in LASTING:
        return wait  # it says more than the time of the next retry
    if job.run_after > (provider.now if provider else timezone.now()):
        return Wait(Reason.RETRY, job.run_after)
    return wait or Wait(Reason.TURN)


def pause_of(model: type[Job]) -> Pause | None:
    """The pause of a kind of job; None if its jobs may start."""
    return Pause.objects.of(model._meta.label).first()


def paused(pause: Pause) -> Wait:
    return Wait(Reason.KIND_PAUSED, pause.until, pause.reason)


def closed(provider: Provider) -> Wait | None:
    """Why no job of this provider starts now, and until when, if that is known."""
    if provider.is_paused:
        until = None if provider.paused else provider.paused_until
        return Wait(Reason.PAUSED, until, provider.pause_reason)
    if provider.lacks_budget:
        note = _("Raise the budget: tomorrow it will be too small again.")
        return Wait(Reason.BUDGET, note=note)
    if provider.lacks_price:
        note = _("Set its price or remove the budget: without a price, the budget limits nothing.")
        return Wait(Reason.PRICE, note=note)
    if provider.affordable < 1:
        return Wait(Reason.BUDGET, _end_of(provider.booking_day))
    if provider.most_running is not None and provider.running >= provider.most_running:
        return Wait(Reason.BUSY)
    if provider.tokens() < 1:
        return Wait(Reason.RATE, provider.now + provider.next_token_in)
    return None


def closed_for(model: type[Job]) -> Wait | None:
    """Why no due job of this model starts now. A paused kind has no due jobs."""
    lanes = model.objects.due().lanes()
    if len(lanes) > 1:
        lanes = [(name, lane) for name, lane in lanes if lane.exists()]
    waits = [closed(limits.find(name)) if name else None for name, _ in lanes]
    return waits[0] if waits and None not in waits else None


def _end_of(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day + timedelta(days=1), time()))
