"""The history of all jobs."""

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from jobs.admin import timeline
from jobs.admin.base import ByJobAdmin, Rows
from jobs.admin.filters import OutcomeFilter
from jobs.models import Attempt, Outcome


@admin.register(Attempt)
class AttemptAdmin(ByJobAdmin):
    list_display = ["job_id", "kind", "result", "worker", "duration", "started_at", "ended_at"]
    list_filter = [OutcomeFilter]

    def get_queryset(self, request: HttpRequest) -> Rows:
        attempts: Rows = super().get_queryset(request)
        return attempts.defer("error", "traceback")

    def get_ordering(self, request: HttpRequest) -> list[str]:
        return ["-ended_at"] if OutcomeFilter.parameter_name in request.GET else ["-id"]

    @display(description=_("outcome"), label=timeline.COLOURS)  # type: ignore[untyped-decorator]
    def result(self, attempt: Attempt) -> tuple[str, str]:
        return attempt.outcome, str(Outcome(attempt.outcome).label)

    @admin.display(description=_("duration"))
    def duration(self, attempt: Attempt) -> str:
        return timeline.seconds(attempt.started_at, attempt.ended_at)
