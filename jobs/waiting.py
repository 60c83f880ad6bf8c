"""What a job waits for: said once, for the admin, the API and the command line."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta

from django.db import models
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobs import providers
from jobs.models import Job, Provider, Status


class Reason(models.TextChoices):
    RETRY = "retry", gettext_lazy("waits until it is tried again")
    PAUSED = "paused", gettext_lazy("the provider is paused")
    BUDGET = "budget", gettext_lazy("today's budget is spent")
    BUSY = "busy", gettext_lazy("the provider takes no more jobs at once")
    RATE = "rate_limit", gettext_lazy("the provider's requests per minute are used")
    TURN = "turn", gettext_lazy("waits for its turn")


@dataclass(frozen=True)
class Wait:
    reason: Reason
    until: datetime | None = None

    @property
    def text(self) -> str:
        """For people, with the time of day if it is known."""
        if self.until is None:
            return str(self.reason.label)
        until = date_format(timezone.localtime(self.until), "TIME_FORMAT")
        return _("%(reason)s (until %(until)s)") % {"reason": self.reason.label, "until": until}


def waits_for(job: Job, provider: Provider | None) -> Wait | None:
    """What keeps a queued job from being claimed; None if it runs or has ended.

    `provider` is the row of `providers.find()`, or None if the job has none.
    """
    if job.status != Status.QUEUED:
        return None
    if job.run_after > (provider.now if provider else timezone.now()):
        return Wait(Reason.RETRY, job.run_after)
    return (provider and closed(provider)) or Wait(Reason.TURN)


def closed(provider: Provider) -> Wait | None:
    """Why no job of this provider starts now, and until when, if that is known."""
    if provider.paused:
        return Wait(Reason.PAUSED)
    if provider.is_paused:
        return Wait(Reason.PAUSED, provider.paused_until)
    if provider.affordable < 1:
        return Wait(Reason.BUDGET, _next_midnight(provider.now))
    if provider.most_running is not None and provider.running >= provider.most_running:
        return Wait(Reason.BUSY)
    if provider.tokens() < 1:
        return Wait(Reason.RATE, provider.now + provider.next_token_in)
    return None


def _next_midnight(now: datetime) -> datetime:
    tomorrow = timezone.localdate(now) + timedelta(days=1)
    return timezone.make_aware(datetime.combine(tomorrow, time()))


def is_out_of_tokens(model: type[Job]) -> bool:
    """Whether jobs of this model wait for nothing but the next minute's tokens."""
    name = model.provider_name()
    wait = closed(providers.find(name)) if name else None
    return wait is not None and wait.reason == Reason.RATE
