"""The history of all jobs."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from jobs.admin import lineage, timeline
from jobs.admin.base import ByJobAdmin, Rows
from jobs.admin.filters import OutcomeFilter, refuse_nul
from jobs.console import shown
from jobs.models import Attempt, Outcome, job_models


def job_link(kind: str, id: UUID) -> str:
    """The job's id, as a link if its model has an admin page."""
    known = {model._meta.label: model for model in job_models()}
    if kind not in known or known[kind] not in admin.site._registry:
        return str(id)
    opts = known[kind]._meta
    page = reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[id])
    return format_html('<a href="{}">{}</a>', page, id)


@admin.register(Attempt)
class AttemptAdmin(ByJobAdmin):
    list_display = ["started", "job", "kind", "result", "worker", "duration", "ended"]
    list_filter = [OutcomeFilter]

    def get_urls(self) -> list[URLPattern]:
        """The page of a trace is here: this is the list of what happened to jobs of all kinds."""
        view = self.admin_site.admin_view(lineage.trace)
        return [path("trace/<str:trace_id>/", view, name="jobs_trace"), *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> Rows:
        attempts: Rows = super().get_queryset(request)
        return attempts.defer("error", "traceback")

    def get_ordering(self, request: HttpRequest) -> list[str]:
        return ["-ended_at"] if OutcomeFilter.parameter_name in request.GET else ["-id"]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        refuse_nul(request)
        response: HttpResponse = super().changelist_view(request, extra_context)
        return response

    @admin.display(description=_("job"))
    def job(self, attempt: Attempt) -> str:
        return job_link(attempt.kind, attempt.job_id)

    @display(description=_("outcome"), label=timeline.COLOURS)  # type: ignore[untyped-decorator]
    def result(self, attempt: Attempt) -> tuple[str, str]:
        return attempt.outcome, str(Outcome(attempt.outcome).label)

    @admin.display(description=_("duration"))
    def duration(self, attempt: Attempt) -> str:
        return shown.seconds(attempt.started_at, attempt.ended_at)

    @admin.display(description=_("started"))
    def started(self, attempt: Attempt) -> str:
        return shown.moment(attempt.started_at)

    @admin.display(description=_("ended"))
    def ended(self, attempt: Attempt) -> str:
        return shown.moment(attempt.ended_at)
