"""What operators see of the queue. They ask, `queue` moves; nothing is edited by hand."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display

from jobs import queue
from jobs.models import Attempt, Job, Outcome, Status, Worker

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise


# As colour and as word, for those who don't see the colour.
COLOURS = {
    Status.QUEUED.value: "info",
    Status.PROCESSING.value: "warning",
    Status.SUCCEEDED.value: "success",
    Status.FAILED.value: "danger",
}


class ReadOnlyAdmin(ModelAdmin):
    """Rows that others write."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [field.name for field in self.model._meta.fields]


class JobAdmin(ReadOnlyAdmin):
    """The base of every job model's admin: register a model with it, or with a subclass."""

    list_display = ["__str__", "state", "attempts", "error_kind", "run_after", "finished_at"]
    list_filter = ["status"]
    search_fields = ["=id"]
    ordering = ["-id"]  # by time: they are UUIDs of version 7
    actions = ["requeue", "cancel"]

    @display(description=_("status"), ordering="status", label=COLOURS)  # type: ignore[untyped-decorator]
    def state(self, job: Job) -> tuple[str, str]:
        return job.status, str(Status(job.status).label)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [*super().get_readonly_fields(request, obj), "history"]

    def save_model(self, request: HttpRequest, obj: Job, form: Any, change: bool) -> None:
        """There is nothing to edit: whoever presses Save all the same changes nothing."""

    @admin.action(description=_("Requeue selected jobs"), permissions=["change"])
    def requeue(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        requeued, left_alone = queue.requeue(jobs, by=request.user)
        self.say(request, _("Jobs queued again: %d."), requeued, messages.SUCCESS)
        if left_alone:
            text = _("Left alone because they are waiting or running: %d.")
            self.say(request, text, left_alone, messages.WARNING)

    @admin.action(description=_("Cancel selected jobs"), permissions=["change"])
    def cancel(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        canceled, left_alone = queue.cancel(jobs, f"Canceled by {request.user}.", by=request.user)
        self.say(request, _("Jobs canceled: %d."), canceled, messages.SUCCESS)
        if left_alone:
            text = _("Left alone because they have ended: %d.")
            self.say(request, text, left_alone, messages.WARNING)

    def say(self, request: HttpRequest, text: "StrPromise", number: int, level: int) -> None:
        self.message_user(request, text % number, level)

    @admin.display(description=_("history"))
    def history(self, job: Job) -> SafeString:
        attempts = Attempt.objects.filter(job_id=job.pk).order_by("-epoch")[:50]
        lines = [
            (
                localtime(attempt.started_at).isoformat(" ", "seconds"),
                Outcome(attempt.outcome).label,
                attempt.error or "",
            )
            for attempt in attempts
        ]
        return format_html_join("", "<div>{} · {} {}</div>", lines)


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    list_display = ["kind", "job_id", "epoch", "outcome", "worker", "started_at", "ended_at"]
    list_filter = ["outcome"]
    search_fields = ["=job_id"]
    ordering = ["-id"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ["name", "slots", "running", "draining", "last_beat_at", "started_at", "version"]
    ordering = ["name"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
