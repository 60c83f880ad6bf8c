"""The workers, and how to ask one of them to stop."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from jobs.admin.base import ReadOnlyAdmin, Rows
from jobs.console import audit, figures, shown
from jobs.models import Worker

COLOURS = {
    "alive": "success",
    "ended": "info",
    "stopping": "info",
    "late": "warning",
    "silent": "danger",
}
LABELS = {
    "alive": _("alive"),
    "ended": _("ended"),
    "stopping": _("stopping"),
    "late": _("beats missing"),
    "silent": _("silent"),
}


def condition(worker: Any) -> str:
    """The worker's state: alive, ended, stopping, late (it missed two beats) or silent."""
    if worker.ended_at:
        return "ended"
    if not worker.is_alive:
        return "silent"
    if worker.is_late:
        return "late"
    return "stopping" if worker.draining or worker.asked_to_stop else "alive"


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ["name", "state", "busy", "beat", "started", "way", "version"]
    ordering = ["-started_at"]
    actions = ["drain"]

    def get_queryset(self, request: HttpRequest) -> Rows:
        return Worker.objects.with_now()

    def adorn(self, rows: list[Any]) -> None:
        figures.count_held(rows)

    @display(description=_("state"), label=COLOURS)  # type: ignore[untyped-decorator]
    def state(self, worker: Worker) -> tuple[str, str]:
        return condition(worker), str(LABELS[condition(worker)])

    @admin.display(description=_("jobs held / slots"))
    def busy(self, worker: Worker) -> str:
        return f"{worker.held} / {worker.slots}"

    @admin.display(description=_("last beat"))
    def beat(self, worker: Any) -> str:
        return gettext("%s ago") % shown.short(worker.now - worker.last_beat_at)

    @admin.display(description=_("started"))
    def started(self, worker: Worker) -> str:
        return shown.moment(worker.started_at)

    @admin.action(description=_("Ask to finish its jobs and stop"), permissions=["act"])
    def drain(self, request: HttpRequest, queryset: Rows) -> None:
        with transaction.atomic():
            workers = list(queryset.filter(asked_to_stop=False))
            queryset.filter(name__in=[worker.name for worker in workers]).update(asked_to_stop=True)
            audit.note(request.user, workers, gettext_noop("Asked to stop."))
        text = _("Workers asked to stop: %s. They start no new job.") % len(workers)
        self.message_user(request, text, messages.SUCCESS)
