"""Tasks of Django's Tasks API: what is called with which arguments, and what it returned."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from jobs.admin.base import Rows
from jobs.admin.jobs import JobAdmin
from jobs.admin.llm import readable
from jobs.models import Status
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

    @admin.display(description=_("task"))
    def subject(self, job: TaskJob) -> str:
        return job.task_path

    def exhibit(self, request: HttpRequest, job: TaskJob) -> dict[str, Any]:
        has_returned = job.status == Status.SUCCEEDED
        return {
            "task_path": job.task_path,
            "arguments": [("", readable(value)) for value in job.args]
            + [(name, readable(value)) for name, value in job.kwargs.items()],
            "returned": readable(job.return_value) if has_returned else None,
        }
