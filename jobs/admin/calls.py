"""Paid calls: their provider, their result and their cost."""

import time
from typing import cast

from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from jobs import queue
from jobs.admin import timeline
from jobs.admin.attempts import job_link
from jobs.admin.base import Rows
from jobs.admin.filters import CallProviderFilter, DayFilter, SeenFilter
from jobs.admin.verdicts import VerdictAdmin
from jobs.console import actions, audit, counting
from jobs.models import Call, State
from jobs.models.call import CallQuerySet

COLOURS = {
    State.INTENT.value: "info",
    State.STORED.value: "success",
    State.FAILED.value: "danger",
    State.UNKNOWN.value: "warning",
}


@admin.register(Call)
class CallAdmin(VerdictAdmin):
    list_display = [
        *("started_at", "provider", "known", "cost", "duration", "job", "worker", "seen"),
    ]
    list_filter = [SeenFilter, CallProviderFilter, "state", ("started_at", DayFilter)]
    ordering = ["-started_at"]
    actions = ["mark_seen"]

    @display(description=_("state"), label=COLOURS)  # type: ignore[untyped-decorator]
    def known(self, call: Call) -> tuple[str, str]:
        return call.state, str(State(call.state).label)

    @admin.display(description=_("job"))
    def job(self, call: Call) -> str:
        return job_link(call.kind, call.job_id)

    @admin.display(description=_("duration"))
    def duration(self, call: Call) -> str:
        return timeline.seconds(call.started_at, call.finished_at)

    @admin.action(description=_("Mark as looked into"), permissions=["act"])
    def mark_seen(self, request: HttpRequest, queryset: Rows) -> None:
        """Mark all chosen calls, in chunks; tells the user if time ran out."""
        unseen = cast(CallQuerySet, queryset).unseen().order_by("pk")
        give_up_at = time.monotonic() + actions.SECONDS
        done = 0
        while time.monotonic() < give_up_at and (calls := list(unseen[: queue.CHUNK])):
            with transaction.atomic():
                done += Call.objects.filter(pk__in=[call.pk for call in calls]).mark_seen()
                audit.note(request.user, calls, gettext_noop("Looked into."))
        text = gettext("Calls marked as seen: %s.") % done
        self.message_user(request, text, messages.SUCCESS)
        if left := counting.count(unseen):
            text = gettext("Time ran out. Calls not marked yet: %s. Run the action again.") % left
            self.message_user(request, text, messages.WARNING)
