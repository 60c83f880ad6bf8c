"""Filters of the console. None of them reads the whole table to find its choices."""

import uuid
from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.views.main import SEARCH_VAR
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404, HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from jobs.admin.skin import RangeDateFilter
from jobs.console import batches, causes, figures, stalls
from jobs.console.counting import MANY
from jobs.db import clock
from jobs.models import Call, Outcome, Process, Provider, State, Status, Worker, job_models
from jobs.paid import money

Choices = list[tuple[str, Any]]

NO_KIND = "–"
# The range of days that every database, time zone and id can hold.
FIRST_DAY, LAST_DAY = date(1970, 1, 2), date(9999, 12, 30)


def as_uuid(text: str) -> uuid.UUID | None:
    """The UUID that a person typed; None if it is not one."""
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def refuse_nul(request: HttpRequest) -> None:
    """Answer 404 to NUL, which PostgreSQL can't store. Searches drop it by themselves."""
    asked = [
        value for name, values in request.GET.lists() if name != SEARCH_VAR for value in values
    ]
    if any("\x00" in value for value in asked):
        raise Http404


class ErrorKindFilter(admin.SimpleListFilter):
    """Failures of one kind."""

    title = _("kind of error")
    parameter_name = "error_kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        model = model_admin.model
        kinds = [(kind, causes.words(kind, model)) for kind in figures.error_kinds(model)]
        return [*kinds, (NO_KIND, _("without a kind"))]

    def queryset(self, request: HttpRequest, jobs: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return jobs
        kind = None if self.value() == NO_KIND else self.value()
        return jobs.filter(status=Status.FAILED, error_kind=kind)


class WorkerFilter(admin.SimpleListFilter):
    """Jobs that a worker runs now."""

    title = _("worker")
    parameter_name = "worker"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        names = Worker.objects.order_by("name").values_list("name", flat=True)
        return [(name, name) for name in names[: figures.MOST_ROWS]]

    def queryset(self, request: HttpRequest, jobs: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return jobs
        return jobs.filter(status=Status.PROCESSING, locked_by=self.value())


class ProviderFilter(admin.SimpleListFilter):
    """Jobs whose last call went to this provider, among its newest 5,000 calls."""

    title = _("provider of the last call")
    parameter_name = "provider"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        names = Provider.objects.values_list("name", flat=True)
        return [(name, name) for name in names[: figures.MOST_ROWS]]

    def queryset(self, request: HttpRequest, jobs: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return jobs
        newest = Call.objects.filter(provider=self.value()).order_by("-started_at")
        last = Call.objects.filter(job_id=OuterRef("id")).order_by("-started_at")
        jobs = jobs.filter(id__in=newest.values("job_id")[: MANY // 2])
        jobs = jobs.alias(last_provider=Subquery(last.values("provider")[:1]))
        return jobs.filter(last_provider=self.value())


class ProcessFilter(admin.SimpleListFilter):
    """Jobs of one process: one of the newest, or the one that a link names."""

    title = _("process")
    parameter_name = "process"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        newest = list(Process.objects.order_by("-created_at")[: figures.MOST_KINDS])
        chosen = as_uuid(request.GET.get(self.parameter_name, ""))
        if chosen and chosen not in {process.pk for process in newest}:
            newest += Process.objects.filter(pk=chosen)
        return [(str(process.pk), causes.beginning(str(process), 60)) for process in newest]

    def queryset(self, request: HttpRequest, jobs: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return jobs
        return jobs.filter(process_id=as_uuid(self.value() or "") or uuid.UUID(int=0))


class DayFilter(RangeDateFilter):
    """A range of days, for rows with an indexed time."""

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        refuse_nul(request)
        first = _midnight(self.used_parameters.get(f"{self.parameter_name}_from"))
        last = _midnight(self.used_parameters.get(f"{self.parameter_name}_to"))
        return self.between(rows, first, last + timedelta(days=1) if last else None)

    def between(
        self, rows: QuerySet[Any], first: datetime | None, end: datetime | None
    ) -> QuerySet[Any]:
        column = self.column()
        if first:
            rows = rows.filter(**{f"{column}__gte": self.edge(first)})
        if end:
            rows = rows.filter(**{f"{column}__lt": self.edge(end)})
        return rows

    def column(self) -> str:
        return str(self.field_path)

    def edge(self, midnight: datetime) -> Any:
        return midnight


class CreatedFilter(DayFilter):
    """Days on which jobs were created. It uses their ids, which are indexed and ordered by time."""

    def column(self) -> str:
        return "id"

    def edge(self, midnight: datetime) -> uuid.UUID:
        return smallest_id(midnight)


def _midnight(text: Any) -> datetime | None:
    """The start of the day that a person typed; None if it is not a date."""
    try:
        day = forms.DateField(input_formats=settings.DATE_INPUT_FORMATS).to_python(text)
    except forms.ValidationError:
        return None
    if day is None:
        return None
    day = min(max(day, FIRST_DAY), LAST_DAY)
    return timezone.make_aware(datetime.combine(day, time()))


def smallest_id(moment: datetime) -> uuid.UUID:
    """The smallest time-ordered UUID of this moment: later ones are at least as large."""
    return uuid.UUID(int=int(moment.timestamp() * 1000) << 80)


class SeenFilter(admin.SimpleListFilter):
    """Calls that may or may not have been paid for, by whether a person looked into them."""

    title = _("unknown outcome")
    parameter_name = "seen"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [("no", _("not seen yet")), ("yes", _("seen by a person"))]

    def queryset(self, request: HttpRequest, rows: Any) -> Any:
        if self.value() not in ("no", "yes"):
            return rows
        paid = rows.unknown().exclude(provider__in=money.free_providers())
        return paid.filter(seen=self.value() == "yes")


class StateFilter(admin.SimpleListFilter):
    """Calls in one state, as the list shows it."""

    title = _("state")
    parameter_name = "state__exact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return list(State.choices)

    def queryset(self, request: HttpRequest, rows: Any) -> Any:
        if self.value() == State.INTENT:
            return rows.under_way()
        if self.value() == State.UNKNOWN:
            return rows.unknown()
        return rows if self.value() is None else rows.filter(state=self.value())


class CallProviderFilter(ProviderFilter):
    """Calls of one provider."""

    title = _("provider")

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows if self.value() is None else rows.filter(provider=self.value())


class BatchFilter(admin.SimpleListFilter):
    """Calls of one batch; batches have a page each, which links here."""

    title = _("batch")
    parameter_name = "batch"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        chosen = request.GET.get(self.parameter_name, "")
        return [(chosen, causes.beginning(chosen, 60))] if chosen else []

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return rows
        return rows.filter(batch_id=as_uuid(self.value() or "") or uuid.UUID(int=0))


class ProcessStateFilter(admin.SimpleListFilter):
    """Open processes, ended ones, and those that need a person."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [
            ("open", pgettext_lazy("process", "open")),
            ("ended", _("ended")),
            ("unfollowed", _("nothing followed")),
            ("stalled", pgettext_lazy("process", "stalled")),
        ]

    def queryset(self, request: HttpRequest, rows: Any) -> Any:
        match self.value():
            case "open":
                return rows.living()
            case "ended":
                return rows.exclude(ended_at=None)
            case "unfollowed":
                return rows.unfollowed()
            case "stalled":
                return rows.filter(pk__in=stalls.find(clock.now()))
        return rows


class StageFilter(admin.SimpleListFilter):
    """Batches that have not ended, and those that the provider has had for too long."""

    title = _("stage")
    parameter_name = "stage"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [("open", _("not ended")), ("old", _("longer than 26 hours at the provider"))]

    def queryset(self, request: HttpRequest, rows: Any) -> Any:
        if self.value() == "open":
            return rows.living()
        if self.value() == "old":
            return rows.filter(pk__in=batches.too_old(clock.now()).values("pk"))
        return rows


class OutcomeFilter(admin.SimpleListFilter):
    """Attempts of one kind of job with one outcome: one filter, because they share an index."""

    title = _("outcome")
    parameter_name = "ended"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [
            (f"{model._meta.label} {outcome}", f"{model._meta.verbose_name}: {outcome.label}")
            for model in job_models()
            for outcome in Outcome
        ]

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        kind, _, outcome = (self.value() or "").partition(" ")
        return rows.filter(kind=kind, outcome=outcome) if kind else rows
