"""How people act on jobs: on one job at once, on many after a page that shows a preview."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import Error, connection
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from jobs.admin.base import ReadOnlyAdmin, Rows, as_uuid, list_of
from jobs.console import actions, audit
from jobs.console.actions import ACTIONS, Action, Preview
from jobs.console.counting import Number
from jobs.db import faults
from jobs.models import Job, Status

log = logging.getLogger(__name__)

SECONDS = 0.7  # of work per request; the page goes on by itself, and other requests do not wait
Response = HttpResponse | None


class ActingAdmin(ReadOnlyAdmin):
    """Buttons and bulk actions; each needs a POST and the user's permission."""

    job_actions: tuple[str, ...] = tuple(ACTIONS)

    def offered(self, request: HttpRequest, job: Job | None = None) -> list[Action]:
        """The actions that this user may take on jobs, or on this job in its current state."""
        offered = [ACTIONS[name] for name in self.job_actions]
        offered = [action for action in offered if self.may(request, action.permission)]
        return [action for action in offered if job is None or job.status in action.origins]

    # On one job

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.act))
        name = f"{self.opts.app_label}_{self.opts.model_name}_act"
        return [
            path("<path:object_id>/act/<str:action_name>/", view, name=name),
            *super().get_urls(),
        ]

    def act(self, request: HttpRequest, object_id: str, action_name: str) -> HttpResponse:
        if action_name not in self.job_actions:
            raise Http404
        action = ACTIONS[action_name]
        job = self.object_or_refuse(request, object_id, action.permission)
        self._act(request, action, job.pk)
        still_there = self.get_queryset(request).filter(pk=job.pk).exists()
        return HttpResponseRedirect(self.page_of(job) if still_there else list_of(self.model))

    def _act(self, request: HttpRequest, action: Action, id: UUID) -> None:
        job = self.get_queryset(request).filter(pk=id)
        left_alone = actions.preview(action, job).left_alone
        try:
            result = actions.carry_out(action, job, request.user)
        except Error as error:
            self.forgive(request, error)
        else:
            self.say(request, action, result.changed, left_alone)

    # On many jobs

    def list_actions(self, request: HttpRequest) -> dict[str, Any]:
        if self.may(request, "change") or self.may(request, "delete"):
            return {
                action.name: (_on_many(action), action.name, str(action.title))
                for action in self.offered(request)
            }
        return {}

    def act_on_many(self, request: HttpRequest, action: Action, jobs: Rows) -> Response:
        """Act on one job at once, on several after a preview; the form repeats its moment."""
        if before := _moment(request.POST.get("before", "")):
            return self._go_on(request, action, jobs, before)
        few = list(jobs.order_by().values_list("pk", flat=True)[:2])
        if len(few) == 1:
            self._act(request, action, few[0])
            return None
        preview = actions.preview(action, jobs)
        hidden = [("before", preview.before.isoformat()), *self.left_alone(preview)]
        return self.ask(request, "admin/jobs/confirm.html", action, hidden, preview=preview)

    def left_alone(self, preview: Preview) -> list[tuple[str, str]]:
        """The counts of a preview, as hidden fields of its form."""
        return [("left_alone", f"{name} {int(number)}") for name, number in preview.left]

    def _go_on(
        self, request: HttpRequest, action: Action, jobs: Rows, before: datetime
    ) -> Response:
        after = as_uuid(request.POST.get("after", ""))
        is_over = False
        try:
            result = actions.carry_out(action, jobs, request.user, after, SECONDS, before=before)
            is_over = result.last is None
        except Error as error:
            self.forgive(request, error)
            result = actions.Result(0, after)
        done = _number(request.POST.get("done", "")) + result.changed
        if result.changed:
            audit.note_many(request.user, self.model, result.changed, action.logged)
        # From the preview: a new count would include the jobs that this action has changed.
        carried = request.POST.getlist("left_alone")
        if is_over:
            self.say(request, action, done, [*_left_alone(carried), *action.left_alone(jobs)])
            return HttpResponseRedirect(request.get_full_path())
        rest = jobs.filter(id__gt=result.last) if result.last else jobs
        hidden = [
            ("before", before.isoformat()),
            ("after", result.last or ""),
            ("done", done),
            *(("left_alone", text) for text in carried),
        ]
        left = actions.preview(action, rest.filter(**{f"{action.moment}__lte": before})).changed
        template = "admin/jobs/working.html"
        return self.ask(request, template, action, hidden, done=done, left=left)

    def forgive(self, request: HttpRequest, error: Error) -> None:
        """Tell the user that the database was busy; raise any other error."""
        if not faults.is_passing(error):
            raise error
        if faults.is_lost():
            connection.close()  # the next query opens another
        log.warning("The console was kept waiting by the database: %s", error)
        text = _("The database was busy. Nothing was changed. Try again.")
        self.message_user(request, text, messages.WARNING)

    def ask(
        self,
        request: HttpRequest,
        template: str,
        action: Action,
        hidden: Sequence[tuple[str, object]],
        **context: Any,
    ) -> TemplateResponse:
        """A page whose form repeats this request with more hidden fields."""
        chosen = request.POST.getlist(ACTION_CHECKBOX_NAME)
        repeated = [
            ("action", action.name),
            ("select_across", request.POST.get("select_across", "0")),
            *action.carried,
            *((ACTION_CHECKBOX_NAME, id) for id in chosen),
        ]
        return TemplateResponse(
            request,
            template,
            {
                **self.page_context(request, action.title),
                "action": action,
                "back": request.get_full_path(),
                **context,
                "hidden": [*repeated, *hidden],
            },
        )

    def say(
        self,
        request: HttpRequest,
        action: Action,
        changed: int,
        left_alone: Iterable[tuple[str, Number]],
    ) -> None:
        """Tell the user how many jobs were changed, and which were left alone and why."""
        level = messages.SUCCESS if changed else messages.WARNING
        self.message_user(request, action.done % changed, level)
        for state, number in left_alone:
            text = _("Not changed, because they are %(state)s: %(number)s.")
            text %= {"state": state, "number": number}
            self.message_user(request, text, messages.WARNING)


def _on_many(action: Action) -> Callable[[ActingAdmin, HttpRequest, Rows], Response]:
    def act(admin: ActingAdmin, request: HttpRequest, jobs: Rows) -> Response:
        return admin.act_on_many(request, action, jobs)

    return act


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _moment(text: str) -> datetime | None:
    """The moment of the preview; None if it is missing or invalid."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if timezone.is_aware(moment) and 2000 < moment.year < 9999 else None


def _left_alone(carried: list[str]) -> Iterator[tuple[str, Number]]:
    """The counts of the preview, e.g. "queued 4", as its form sent them back."""
    for name, _space, number in (text.partition(" ") for text in carried):
        if name in Status.values:
            yield str(Status(name).label), Number(_number(number))
