"""What needs a person now: one list for the dashboard and the command line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Model
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from jobs.console import (
    batches,
    causes,
    counting,
    figures,
    occasional,
    providers,
    schedules,
    sentences,
    stalls,
)
from jobs.console.counting import Number
from jobs.db import clock
from jobs.models import Call, Job, Pause, Process, Provider, Schedule, Status, Worker
from jobs.models.provider import Strategy
from jobs.paid.batches.models import Batch
from jobs.paid.clients import services


@dataclass(frozen=True)
class Need:
    """One thing that needs a person, and the admin list that shows it: a model and a query."""

    kind: str
    text: str
    model: type[Model]
    query: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Situation:
    """The figures that the answer depends on, read once per page."""

    statuses: dict[type[Job], dict[Status, Number]]
    oldest: dict[type[Job], datetime | None]
    pauses: dict[type[Job], Pause]  # also those that are over
    providers: list[providers.ProviderFigures]
    workers: Sequence[Worker]
    fleet: figures.Fleet
    visits: list[occasional.Visits]
    unknown: Number
    unfollowed: Number
    stalled: Number
    old_batches: Number
    broken_schedules: list[tuple[Schedule, str]]
    now: datetime

    @classmethod
    def look(cls) -> "Situation":
        statuses = figures.by_status()
        now = clock.now()
        return cls(
            statuses=statuses,
            oldest={model: figures.oldest_due(model) for model in statuses},
            pauses=figures.pauses(),
            providers=providers.look(statuses),
            workers=figures.workers(),
            fleet=figures.fleet(),
            visits=occasional.visits(),
            unknown=figures.unknown_calls(),
            unfollowed=counting.count(Process.objects.unfollowed()),
            stalled=Number(len(stalls.find(now))),
            old_batches=counting.count(batches.too_old(now)),
            broken_schedules=schedules.broken(),
            now=now,
        )

    def pause_of(self, model: type[Job]) -> Pause | None:
        """The pause of this kind of job, if it is not over."""
        pause = self.pauses.get(model)
        return pause if pause and pause.lasts(self.now) else None

    @property
    def startable(self) -> dict[type[Job], datetime]:
        """Since when the oldest due job of each kind could have been started.

        No worker is to blame for the time of a pause.
        """
        found = {}
        for model, since in self.oldest.items():
            if since and not self.pause_of(model):
                over = self.pauses[model].until if model in self.pauses else None
                found[model] = max(since, over or since)
        return found


def needs(situation: Situation) -> list[Need]:
    """The most urgent first; empty when all is well."""
    return [
        *_no_worker(situation),
        *_closed_providers(situation),
        *_unknown_calls(situation),
        *_failed(situation),
        *_unfollowed(situation),
        *_stalled(situation),
        *_old_batches(situation),
        *_broken_schedules(situation),
        *_paused_kinds(situation),
        *_waiting_too_long(situation),
    ]


def _no_worker(situation: Situation) -> Iterator[Need]:
    """Without work no worker is needed, nor while one comes regularly, by cron or by a request."""
    if any(visits.is_next_expected(situation.now) for visits in situation.visits):
        return
    is_due = bool(situation.startable)
    is_held = any(numbers[Status.PROCESSING] for numbers in situation.statuses.values())
    if not situation.fleet.alive and (is_due or is_held):
        text = _("No worker is alive, but jobs are due.")
        if not is_due:
            text = _("No worker is alive, but jobs are processing: they wait for another worker.")
        yield Need("no_worker", text, Worker)
    elif not situation.fleet.working and is_due:
        text = _("Every worker is stopping: jobs that are due do not start.")
        yield Need("no_worker", text, Worker)


def _closed_providers(situation: Situation) -> Iterator[Need]:
    for found in situation.providers:
        if found.wait and found.needs_a_person:
            text = f"{found.provider.name}: {found.state}"
            if found.wait.note:
                text += f" – {causes.beginning(sentences.told(found.wait.note))}"
            yield Need("provider", text, Provider, {"q": found.provider.name})


def _unknown_calls(situation: Situation) -> Iterator[Need]:
    if situation.unknown:
        text = _("Calls with an unknown outcome, possibly paid for: %(number)s")
        text %= {"number": situation.unknown}
        yield Need("unknown", text, Call, {"seen": "no"})


def _failed(situation: Situation) -> Iterator[Need]:
    for model, numbers in situation.statuses.items():
        if number := numbers[Status.FAILED]:
            kind = model._meta.verbose_name_plural
            text = _("Failed %(kind)s: %(number)s") % {"kind": kind, "number": number}
            yield Need("failed", text, model, {"status__exact": Status.FAILED.value})


def _unfollowed(situation: Situation) -> Iterator[Need]:
    if situation.unfollowed:
        text = _("Processes after which nothing followed, because of an error: %(number)s")
        text %= {"number": situation.unfollowed}
        yield Need("unfollowed", text, Process, {"state": "unfollowed"})


def _stalled(situation: Situation) -> Iterator[Need]:
    if situation.stalled:
        text = _("Processes that stall, because nothing moves them any more: %(number)s")
        text %= {"number": situation.stalled}
        yield Need("stalled", text, Process, {"state": "stalled"})


def _old_batches(situation: Situation) -> Iterator[Need]:
    if situation.old_batches:
        text = _("Batches that have been at their provider for longer than 26 hours: %(number)s")
        text %= {"number": situation.old_batches}
        yield Need("old_batch", text, Batch, {"stage": "old"})


def _broken_schedules(situation: Situation) -> Iterator[Need]:
    for schedule, fault in situation.broken_schedules:
        text = _("The schedule %(name)s can’t run: %(why)s")
        text %= {"name": schedule.name, "why": fault}
        yield Need("schedule", text, Schedule, {"q": schedule.name})


def hints(situation: Situation) -> list[Need]:
    """What people may want to know, although nothing needs them."""
    return [
        Need("no_batches", no_batches(found.provider), Provider, {"q": found.provider.name})
        for found in situation.providers
        if found.is_used and no_batches(found.provider)
    ]


def no_batches(provider: Provider) -> str:
    """Why a provider that should make its calls in batches makes them at once; else empty."""
    if provider.strategy != Strategy.BATCH:
        return ""
    if provider.batch_note:
        text = _("%(name)s makes its calls at once, at full price: %(why)s")
        return text % {"name": provider.name, "why": causes.beginning(provider.batch_note)}
    if services.has_batches(provider.name):
        return ""
    text = _("%(name)s has no batches: its calls are made at once, at full price.")
    return text % {"name": provider.name}


def _waiting_too_long(situation: Situation) -> Iterator[Need]:
    for model, since in situation.startable.items():
        if _is_too_long(situation.now - since):
            text = _("The oldest of the waiting %(kind)s has been due for %(minutes)s minutes")
            text %= _wait_of(model, situation.now - since)
            yield Need("waiting", text, model, {"status__exact": Status.QUEUED.value})


def _paused_kinds(situation: Situation) -> Iterator[Need]:
    """A pause without an end may have been forgotten. One with an end is over by itself."""
    for model, since in situation.oldest.items():
        pause = situation.pause_of(model)
        if pause and pause.until is None and since and _is_too_long(situation.now - since):
            text = _("Paused: %(kind)s. The oldest one has been due for %(minutes)s minutes")
            text %= _wait_of(model, situation.now - since)
            if pause.reason:
                text += f" – {causes.beginning(sentences.told(pause.reason))}"
            yield Need("kind_paused", text, model, {"status__exact": Status.QUEUED.value})


def _is_too_long(time: timedelta) -> bool:
    return time > timedelta(minutes=settings.WAITING_TOO_LONG_MINUTES)


def _wait_of(model: type[Job], time: timedelta) -> dict[str, str]:
    minutes = number_format(time // timedelta(minutes=1))
    return {"kind": str(model._meta.verbose_name_plural), "minutes": str(minutes)}
