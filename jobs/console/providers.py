"""What the console says about providers: how busy they are, and whether a person is needed."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models.functions import Now
from django.utils.translation import gettext as _

from jobs.console import counting, figures
from jobs.console.counting import Number
from jobs.models import Call, Job, Provider, State, Status, used_providers
from jobs.paid.waiting import LASTING, Reason, Wait, closed

LONG_PAUSE = timedelta(minutes=10)  # a shorter pause ends before a person can react


@dataclass(frozen=True)
class ProviderFigures:
    """A provider, how busy it is, and what its state means for people."""

    provider: Provider
    running: int
    last_minute: Number
    wait: Wait | None
    is_used: bool  # by a kind of job that is installed now

    @property
    def needs_a_person(self) -> bool:
        """Whether its pause, price or budget keeps jobs waiting until a person acts.

        A short pause that the provider asked for ends by itself. No job waits for an unused one.
        """
        if not self.is_used or self.wait is None or self.wait.reason not in LASTING:
            return False
        if self.wait.reason != Reason.PAUSED:
            return True
        until, now = self.wait.until, self.provider.now
        is_long = until is not None and until - now > LONG_PAUSE
        return self.provider.paused or self.provider.is_probing or is_long

    @property
    def colour(self) -> str:
        """Red only for what needs a person: a reached limit of calls or jobs is everyday work."""
        if not self.is_used:
            return "plain"
        if self.wait is None:
            return "success"
        if self.needs_a_person:
            return "danger"
        return "warning" if self.wait.reason == Reason.PAUSED else "info"

    @property
    def state(self) -> str:
        state = self.wait.text if self.wait else _("open")
        return state if self.is_used else _("not in use (%s)") % state


def look(statuses: dict[type[Job], dict[Status, Number]]) -> list[ProviderFigures]:
    """Every provider with its running jobs and recent calls."""
    rows = list(Provider.objects.with_now()[: figures.MOST_ROWS])
    # Calls of batches are not counted: the limit of calls per minute does not hold for them.
    recent = Call.objects.filter(started_at__gt=Now() - timedelta(minutes=1), batch_id=None)
    recent = recent.exclude(state=State.WAITING)
    asked = counting.counts({row.name: recent.filter(provider=row.name) for row in rows})
    for row in rows:
        row.running = sum(_running(model, numbers, row.name) for model, numbers in statuses.items())
    used = used_providers()
    return [
        ProviderFigures(row, row.running, asked[row.name], closed(row), is_used=row.name in used)
        for row in rows
    ]


def _running(model: type[Job], numbers: dict[Status, Number], provider: str) -> int:
    """How many jobs of a kind run under this provider; of tasks, each may name its own."""
    if model.provider_name() == provider:
        return int(numbers[Status.PROCESSING])
    if provider not in model.provider_names():
        return 0
    return model.objects.of_provider(provider).processing().count()
