"""Events: what was recorded, whether it is processed, and the jobs that handle it."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from jobs.admin.base import ReadOnlyAdmin, Rows, as_uuid, page_of
from jobs.admin.event_filters import EventKindFilter, ProcessedFilter
from jobs.admin.filters import refuse_nul
from jobs.admin.jobs import JobAdmin
from jobs.admin.llm import readable
from jobs.admin.skin import display
from jobs.console import counting, shown
from jobs.events.models import EventJob
from jobs.models import Event, Status

COLOURS = {"processed": "success", "open": "info", "failed": "danger"}
LABELS = {"processed": _("processed"), "open": _("not processed yet"), "failed": _("a job failed")}
MOST_JOBS = 50


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ["subject", "source", "dedupe_key", "state", "recorded", "processed"]
    list_filter = [ProcessedFilter, EventKindFilter]
    search_fields = ["id"]  # only to show the search box
    search_help_text = _("id or dedupe key")
    change_form_template = "admin/jobs/event.html"
    exclude = ["payload"]  # shown above the columns, and cut

    def get_queryset(self, request: HttpRequest) -> Rows:
        rows: Rows = super().get_queryset(request)
        return rows.defer("payload")

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        return ProcessedFilter.order(request.GET.get(ProcessedFilter.parameter_name))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        refuse_nul(request)
        response: HttpResponse = super().changelist_view(request, extra_context)
        return response

    def get_search_results(
        self, request: HttpRequest, queryset: Rows, search_term: str
    ) -> tuple[Rows, bool]:
        term = search_term.strip().replace("\x00", "")
        if not term:
            return queryset, False
        if id := as_uuid(term):
            return queryset.filter(pk=id), False
        # The index of keys begins with the source, and there are few sources.
        keyed = Event.objects.filter(dedupe_key__isnull=False)
        sources = counting.distinct(keyed, "source")
        return queryset.filter(source__in=sources, dedupe_key=term), False

    def adorn(self, rows: list[Any]) -> None:
        failed = EventJob.objects.filter(
            event__in=[event.pk for event in rows if not event.processed_at],
            status=Status.FAILED,
        )
        ids = set(failed.values_list("event_id", flat=True))
        for event in rows:
            event.has_failed = event.pk in ids

    @admin.display(description=_("kind"))
    def subject(self, event: Event) -> str:
        return event.kind

    @display(description=_("state"), label=COLOURS)  # type: ignore[untyped-decorator]
    def state(self, event: Any) -> tuple[str, str]:
        return state_of(event), str(LABELS[state_of(event)])

    @admin.display(description=_("recorded"))
    def recorded(self, event: Event) -> str:
        return shown.moment(event.created_at)

    @admin.display(description=_("processed"))
    def processed(self, event: Event) -> str:
        return shown.moment(event.processed_at)

    def describe(self, request: HttpRequest, event: Event) -> dict[str, Any]:
        self.adorn([event])
        jobs = list(event.jobs.order_by("handler")[:MOST_JOBS])
        page = self.admin_site._registry.get(EventJob)
        may_open = page is not None and page.has_view_or_change_permission(request)
        return {
            "event": event,
            "label": {"colour": COLOURS[state_of(event)], "text": LABELS[state_of(event)]},
            "payload": readable(event.payload),
            "jobs": [{"job": job, "link": page_of(job) if may_open else ""} for job in jobs],
            "is_final": event.processed_at is not None,
        }


def state_of(event: Any) -> str:
    if event.processed_at:
        return "processed"
    return "failed" if event.has_failed else "open"


@admin.register(EventJob)
class EventJobAdmin(JobAdmin):
    list_display = [
        *("subject", "told_of", "state", "tries", "situation", "held_by", "age", "duration"),
    ]
    exhibit_template = "admin/jobs/told.html"

    def get_queryset(self, request: HttpRequest) -> Rows:
        rows: Rows = super().get_queryset(request)
        return rows.select_related("event").defer("event__payload")

    @admin.display(description=_("handler"))
    def subject(self, job: Any) -> str:
        return str(job.handler)

    @admin.display(description=_("event"))
    def told_of(self, job: EventJob) -> str:
        return format_html('<a href="{}">{}</a>', page_of(job.event), job.event)

    def exhibit(self, request: HttpRequest, job: EventJob) -> dict[str, Any]:
        return {"event": job.event, "payload": readable(job.event.payload)}
