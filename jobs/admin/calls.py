"""Paid calls: their provider, their result and their cost."""

import time
from typing import Any, cast

from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from jobs import queue
from jobs.admin.attempts import job_link
from jobs.admin.base import Rows
from jobs.admin.filters import (
    BatchFilter,
    CallProviderFilter,
    DayFilter,
    SeenFilter,
    StateFilter,
)
from jobs.admin.skin import display
from jobs.admin.verdicts import VerdictAdmin
from jobs.console import actions, audit, counting, shown
from jobs.db import clock
from jobs.models import Call, State
from jobs.models.call import CallQuerySet
from jobs.paid import money

COLOURS = {
    State.WAITING.value: "info",
    State.INTENT.value: "info",
    State.STORED.value: "success",
    State.FAILED.value: "danger",
    State.UNKNOWN.value: "warning",
}


@admin.register(Call)
class CallAdmin(VerdictAdmin):
    list_display = [
        *("started", "provider", "known", "price", "duration", "job", "worker", "looked_into"),
        "batch",
    ]
    list_filter = [
        SeenFilter,
        CallProviderFilter,
        StateFilter,
        BatchFilter,
        ("started_at", DayFilter),
    ]
    ordering = ["-started_at"]
    exclude = ["request"]  # it may be megabytes, and its job's page shows it
    actions = ["mark_seen"]

    def adorn(self, rows: list[Any]) -> None:
        free = money.free_providers()
        now = clock.now()
        for call in rows:
            call.now = now
            call.needs_a_person = call.is_unknown(now) and call.provider not in free

    @display(description=_("state"), label=COLOURS)  # type: ignore[untyped-decorator]
    def known(self, call: Any) -> tuple[str, str]:
        state = call.shown_state(call.now)
        return state.value, str(state.label)

    @admin.display(description=_("job"))
    def job(self, call: Call) -> str:
        return job_link(call.kind, call.job_id)

    @admin.display(description=_("batch"))
    def batch(self, call: Call) -> str:
        if call.batch_id is None:
            return ""
        page = reverse("admin:jobs_batch_change", args=[call.batch_id])
        return format_html('<a href="{}">{}</a>', page, str(call.batch_id)[:8])

    @admin.display(description=_("duration"))
    def duration(self, call: Any) -> str:
        return shown.of_call(call, call.now)

    @admin.display(description=_("started"))
    def started(self, call: Call) -> str:
        return shown.moment(call.started_at)

    @admin.display(description=_("cost"))
    def price(self, call: Call) -> str:
        return money.shown(call.cost)

    @admin.display(description=_("looked into"))
    def looked_into(self, call: Any) -> str:
        """Empty unless it may have been paid for: no other call needs a person."""
        if not call.needs_a_person:
            return ""
        if call.seen:
            return gettext("yes")
        return format_html('<span class="tc-label tc-is-warning">{}</span>', gettext("not yet"))

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
