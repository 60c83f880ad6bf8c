"""LLM requests: which process each one belongs to, what it asks, and what was answered."""

import json
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from jobs.admin.base import Rows, page_of
from jobs.admin.filters import ProcessFilter
from jobs.admin.jobs import JobAdmin
from jobs.admin.skin import display
from jobs.console.shown import number
from jobs.llm.models import LLMJob, State
from jobs.models import Process

COLOURS = {
    State.PENDING.value: "info",
    State.IN_PROGRESS.value: "warning",
    State.COMPLETED.value: "success",
    State.FAILED.value: "danger",
}
ORDER = ("system", "prompt", "messages", "schema", "text")  # the database sorts keys by length
LONGEST = 20_000  # letters of one text on a page


@admin.register(LLMJob)
class LLMJobAdmin(JobAdmin):
    list_display = [
        *("subject", "process", "progress_state", "state", "tries", "situation", "age"),
        "duration",
    ]
    exhibit_template = "admin/jobs/request.html"
    exclude = ["request_json", "response_json"]  # shown above the columns, and cut

    def get_queryset(self, request: HttpRequest) -> Rows:
        rows: Rows = super().get_queryset(request)
        return rows.defer("request_json", "response_json")  # each may be megabytes

    def get_ordering(self, request: HttpRequest) -> list[str]:
        """Those of one process in its own order."""
        is_of_one = ProcessFilter.parameter_name in request.GET
        return ["position"] if is_of_one else super().get_ordering(request)

    def adorn(self, rows: list[Any]) -> None:
        super().adorn(rows)
        known = Process.objects.in_bulk({job.process_id for job in rows if job.process_id})
        for job in rows:
            job.process = known.get(job.process_id)

    @admin.display(description=_("request"))
    def subject(self, job: Any) -> str:
        return f"#{job.position + 1}" if job.process else str(job.pk)

    @admin.display(description=_("process"))
    def process(self, job: Any) -> str:
        if job.process is None:
            return ""
        return format_html('<a href="{}">{}</a>', page_of(job.process), job.process)

    @display(description=_("state"), label=COLOURS)  # type: ignore[untyped-decorator]
    def progress_state(self, job: LLMJob) -> tuple[str, str]:
        return job.state.value, job.state.value

    def exhibit(self, request: HttpRequest, job: LLMJob) -> dict[str, Any]:
        return {
            "asked": parts(job.request_json),
            "answered": parts(job.response_json) if job.response_json is not None else [],
            "request_state": job.state,
            "batch_job_id": job.batch_job_id,
        }


def parts(value: Any) -> list[tuple[str, str]]:
    """A request or an answer, as names and texts; what is no object is one text."""
    if not isinstance(value, dict):
        return [("", readable(value))]
    names = [name for name in ORDER if name in value]
    names += [name for name in value if name not in ORDER]
    return [(str(name), readable(value[name])) for name in names if value[name] is not None]


def readable(value: Any) -> str:
    """A text as it is, anything else as indented JSON; a very long one is cut, and says so."""
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    if len(text) <= LONGEST:
        return text
    more = gettext("… and %s more letters") % number(len(text) - LONGEST)
    return f"{text[:LONGEST]}\n{more}"
