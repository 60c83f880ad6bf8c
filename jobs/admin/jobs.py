"""The list of jobs, and the page of one job: its history and what it waits for."""

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from jobs.admin import columns, lineage, tabs, timeline
from jobs.admin.base import Rows, as_uuid, link_to
from jobs.admin.failures import failure_lines
from jobs.admin.filters import (
    NO_KIND,
    CreatedFilter,
    ErrorKindFilter,
    ProcessFilter,
    ProviderFilter,
    WorkerFilter,
    refuse_nul,
)
from jobs.admin.pausing import PausingAdmin
from jobs.admin.rescheduling import ReschedulingAdmin
from jobs.archive import reading
from jobs.console import audit, causes, job_waits, occasional, shown, story
from jobs.console.counting import MANY
from jobs.console.lineage import trace_in
from jobs.db import clock
from jobs.models import ENDED, Attempt, Call, Job, Process, Status, in_trace
from jobs.paid import limits

# Each label is a colour and a word, for people who can't see the colour.
COLOURS = {
    Status.QUEUED.value: "info",
    Status.PROCESSING.value: "warning",
    Status.SUCCEEDED.value: "success",
    Status.FAILED.value: "danger",
    Status.CANCELED.value: "plain",
}


class JobAdmin(PausingAdmin, ReschedulingAdmin):
    """The base of every job model's admin: register a model with it, or with a subclass."""

    list_display = [
        *("subject", "state", "tries", "situation", "held_by", "age", "duration"),
    ]
    list_display_links = ["subject"]
    list_filter = [
        "status",
        ErrorKindFilter,
        ProviderFilter,
        ProcessFilter,
        WorkerFilter,
        ("created_at", CreatedFilter),
    ]
    search_fields = ["id"]  # only to show the search box: see get_search_results
    search_help_text = _("id of the job, its origin or its trace; among failed ones the error")
    sortable_by: list[str] = []  # an order without an index would take minutes
    list_before_template = "admin/jobs/before_list.html"
    change_form_template = "admin/jobs/job.html"
    exhibit_template = ""  # shows what the job is about, on its page

    # The list

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """Show the model's own columns too, unless a subclass has chosen them."""
        if self.list_display is not JobAdmin.list_display:
            return list(self.list_display)
        first, *rest = self.list_display
        return [first, *columns.own_columns(self.model), *rest]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Above the list, show a tab per status; above failures, how many of each kind."""
        refuse_nul(request)
        shows_all_failures = request.GET.get("status__exact") == Status.FAILED
        lines = failure_lines(self.model) if shows_all_failures else []
        above = {
            "failures": lines,
            "tabs": tabs.of(self.model, request),
            "pause": self.pause_shown(request),
        }
        response: HttpResponse = super().changelist_view(
            request, {**above, **(extra_context or {})}
        )
        return response

    def get_ordering(self, request: HttpRequest) -> list[str]:
        if request.GET.get("status__exact") == Status.QUEUED:
            return ["priority", "run_after", "created_at"]  # in turn
        if request.GET.get(ErrorKindFilter.parameter_name) == NO_KIND:
            return ["-error_kind", "-id"]  # like the index ..._failures
        return ["-id"]  # by time: ids are UUIDs of version 7

    def get_search_results(
        self, request: HttpRequest, queryset: Rows, search_term: str
    ) -> tuple[Rows, bool]:
        """Search indexed columns, and error texts among the newest 10,000 failures only."""
        term = search_term.strip().replace("\x00", "")
        if not term:
            return queryset, False
        wanted = self.search(term)
        if request.GET.get("status__exact") == Status.FAILED or "error_kind" in request.GET:
            queryset = self.newest(queryset)
            wanted |= Q(last_error__icontains=term)
        return queryset.filter(wanted), False

    def newest(self, jobs: Rows) -> Rows:
        """The newest 10,000 of these jobs."""
        last = jobs.order_by("-id").values_list("id", flat=True)[MANY - 1 : MANY].first()
        return jobs.filter(id__gte=last) if last else jobs

    def search(self, term: str) -> Q:
        """The condition for a search term; a subclass adds its own indexed columns."""
        id, trace_id = as_uuid(term), trace_in(term)
        found = Q(id=id) | Q(parent_id=id) if id else Q(pk__in=[])
        return found | in_trace(trace_id) if trace_id else found

    def adorn(self, rows: list[Any]) -> None:
        name = self.model.provider_name()
        provider = limits.find(name) if name and rows else None
        last = Attempt.objects.filter(job_id=OuterRef("id")).order_by("-epoch")
        runs = self.model.objects.with_ids([job.id for job in rows]).values_list(
            "id",
            Subquery(last.values("started_at")[:1]),
            Subquery(last.values("ended_at")[:1]),
            Now(),  # by the database's clock, like all other times
        )
        known = {id: times for id, *times in runs}
        wait = job_waits.of(rows, provider)
        for job in rows:
            job.wait = wait[job.pk]
            *job.last_run, job.now = known.get(job.id, (None, None, timezone.now()))

    @admin.display(description=_("job"))
    def subject(self, job: Job) -> str:
        return str(job)

    @display(description=_("status"), label=COLOURS)  # type: ignore[untyped-decorator]
    def state(self, job: Job) -> tuple[str, str]:
        return job.status, str(Status(job.status).label)

    @admin.display(description=_("failed attempts"))
    def tries(self, job: Job) -> str:
        return f"{job.attempts} / {job.max_attempts}"

    @admin.display(description=_("reason"))
    def situation(self, job: Any) -> str:
        if job.wait:
            return str(job.wait.text)
        return causes.reason(job) if job.status == Status.FAILED else ""

    @admin.display(description=_("worker"))
    def held_by(self, job: Job) -> str:
        return job.locked_by or ""

    @admin.display(description=_("age"))
    def age(self, job: Any) -> str:
        return shown.short(job.now - job.created_at)

    @admin.display(description=_("duration"))
    def duration(self, job: Any) -> str:
        started_at, ended_at = job.last_run
        if job.status == Status.PROCESSING:
            started_at, ended_at = job.locked_at, job.now
        return shown.seconds(started_at, ended_at)

    # The page of one job

    def describe(self, request: HttpRequest, job: Job) -> dict[str, Any]:
        """Everything that a job's page shows."""
        name = self.model.provider_name()
        archived = reading.history(job)
        attempts = [*timeline.newest(job), *archived.attempts][: timeline.MOST]
        calls = list(Call.objects.filter(job_id=job.pk).order_by("-started_at")[: timeline.MOST])
        calls = [*calls, *archived.calls][: timeline.MOST]
        now = clock.now()
        for call in calls:
            call.duration = shown.of_call(call, now)  # type: ignore[attr-defined]
            call.shown = call.shown_state(now)  # type: ignore[attr-defined]
        return {
            "job": job,
            "running": timeline.running(job, calls, now),
            "trouble": timeline.trouble(job, attempts),
            "runs": story.runs(job, archived),
            "wait": job_waits.of([job], limits.find(name) if name else None)[job.pk],
            "process": job.process_id and Process.objects.filter(pk=job.process_id).first(),
            "no_worker": occasional.is_none_expected(),
            "attempts": timeline.attempts(job, attempts),
            "archive_notes": archived.notes,
            "has_archive": bool(archived),
            "attempts_link": link_to(Attempt, {"q": str(job.pk)}),
            "calls": calls,
            "calls_link": link_to(Call, {"q": str(job.pk)}),
            "most": timeline.MOST,
            "log": audit.about(job)[:20],
            "offered": self.offered(request, job),
            **lineage.describe(request, job),
            "reschedule_link": self.reschedule_link(request, job),
            "is_final": job.status in ENDED,  # then the page stops renewing itself
            "exhibit_template": self.exhibit_template,
            **self.exhibit(request, job),
        }

    def exhibit(self, request: HttpRequest, job: Any) -> dict[str, Any]:
        """Context for the `exhibit_template` of a subclass."""
        return {}
