"""Paid calls: what was asked of whom, what became of it, and what it cost."""

from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop
from unfold.decorators import display

from jobs import audit
from jobs.admin import timeline
from jobs.admin.base import ByJobAdmin, Rows
from jobs.admin.filters import CallProviderFilter, DayFilter, SeenFilter
from jobs.models import Call, State

COLOURS = {
    State.INTENT.value: "info",
    State.STORED.value: "success",
    State.FAILED.value: "danger",
    State.UNKNOWN.value: "warning",
}


@admin.register(Call)
class CallAdmin(ByJobAdmin):
    list_display = [
        *("started_at", "provider", "known", "cost", "duration", "job_id", "worker", "excused"),
    ]
    list_filter = [SeenFilter, CallProviderFilter, "state", ("started_at", DayFilter)]
    ordering = ["-started_at"]
    actions = ["mark_seen"]

    @display(description=_("state"), label=COLOURS)  # type: ignore[untyped-decorator]
    def known(self, call: Call) -> tuple[str, str]:
        return call.state, str(State(call.state).label)

    @admin.display(description=_("duration"))
    def duration(self, call: Call) -> str:
        return timeline.seconds(call.started_at, call.finished_at)

    @admin.action(description=_("I have looked into these"), permissions=["act"])
    def mark_seen(self, request: HttpRequest, queryset: Rows) -> None:
        seen = list(queryset.unknown().filter(excused=False)[:1000])  # type: ignore[attr-defined]
        Call.objects.filter(pk__in=[call.pk for call in seen]).mark_seen()
        audit.note(request.user, seen, gettext_noop("Looked into."))
        text = _("Calls marked as seen: %s.") % len(seen)
        self.message_user(request, text, messages.SUCCESS)
