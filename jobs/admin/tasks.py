"""Tasks of Django's Tasks API: what is called with which arguments, and what it returned."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from jobs.admin.base import Rows
from jobs.admin.jobs import JobAdmin
from jobs.admin.llm import readable
from jobs.console import job_waits
from jobs.models import Status
from jobs.paid import limits
from jobs.tasks.models import TaskJob


@admin.register(TaskJob)
class TaskJobAdmin(JobAdmin):
    list_display = [
        *("subject", "queue_name", "state", "tries", "situation", "held_by", "age", "duration"),
    ]
    exhibit_template = "admin/jobs/task.html"
    exclude = ["args", "kwargs", "return_value"]  # shown above the columns, and cut

    def get_queryset(self, request: HttpRequest) -> Rows:
        rows: Rows = super().get_queryset(request)
        return rows.defer("args", "kwargs", "return_value")  # each may be megabytes

    def adorn(self, rows: list[Any]) -> None:
        """Each task may wait for a provider of its own."""
        super().adorn(rows)
        for name in {job.provider for job in rows if job.provider}:
            theirs = [job for job in rows if job.provider == name]
            waits = job_waits.of(theirs, limits.find(name))
            for job in theirs:
                job.wait = waits[job.pk]

    @admin.display(description=_("task"))
    def subject(self, job: Any) -> str:
        return str(job.task_path)

    def exhibit(self, request: HttpRequest, job: TaskJob) -> dict[str, Any]:
        has_returned = job.status == Status.SUCCEEDED
        return {
            "task_path": job.task_path,
            "arguments": [("args", readable(job.args)), ("kwargs", readable(job.kwargs))],
            "returned": readable(job.return_value) if has_returned else None,
        }
