"""How people act on jobs: on one at once, on many after a page that says what will happen."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from jobs import audit, bulk
from jobs.admin.base import ReadOnlyAdmin, Rows, as_uuid, list_of
from jobs.bulk import ACTIONS, Action, Preview
from jobs.models import Job

Response = HttpResponse | None


class ActingAdmin(ReadOnlyAdmin):
    """Buttons and bulk actions, all of them by POST and only for who may."""

    job_actions: tuple[str, ...] = tuple(ACTIONS)

    def offered(self, request: HttpRequest, job: Job | None = None) -> list[Action]:
        """What this person may do to jobs, or to this one as it is now."""
        offered = [ACTIONS[name] for name in self.job_actions]
        offered = [action for action in offered if self.may(request, action.permission)]
        return [action for action in offered if job is None or job.status in action.origins]

    # One

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
        self._act(request, action, self.get_queryset(request).filter(pk=job.pk))
        still_there = self.get_queryset(request).filter(pk=job.pk).exists()
        return HttpResponseRedirect(self.page_of(job) if still_there else list_of(self.model))

    def _act(self, request: HttpRequest, action: Action, jobs: Rows) -> None:
        preview = bulk.preview(action, jobs)
        result = bulk.carry_out(action, jobs, request.user)
        self.say(request, preview, result.changed)

    # Many

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        if self.may(request, "change") or self.may(request, "delete"):
            return {
                action.name: (_on_many(action), action.name, str(action.title))
                for action in self.offered(request)
            }
        return {}

    def act_on_many(self, request: HttpRequest, action: Action, jobs: Rows) -> Response:
        across = request.POST.get("select_across") == "1"
        if not across and len(request.POST.getlist(ACTION_CHECKBOX_NAME)) == 1:
            self._act(request, action, jobs)
            return None
        if "confirmed" not in request.POST:
            preview = bulk.preview(action, jobs)
            return self.ask(request, "admin/jobs/confirm.html", action, preview=preview)
        return self._go_on(request, action, jobs)

    def _go_on(self, request: HttpRequest, action: Action, jobs: Rows) -> Response:
        after = as_uuid(request.POST.get("after", ""))
        preview = bulk.preview(action, jobs)
        result = bulk.carry_out(action, jobs, request.user, after)
        done = _number(request.POST.get("done", "")) + result.changed
        audit.note_many(request.user, self.model, result.changed, action.logged)
        if result.last is None:
            self.say(request, preview, done)
            return HttpResponseRedirect(request.get_full_path())
        left = bulk.preview(action, jobs.filter(id__gt=result.last)).changed
        return self.ask(
            request,
            "admin/jobs/working.html",
            action,
            hidden=[("confirmed", "1"), ("after", result.last), ("done", done)],
            done=done,
            left=left,
        )

    def ask(
        self, request: HttpRequest, template: str, action: Action, **context: Any
    ) -> TemplateResponse:
        """A page whose form repeats this request, with more in it."""
        chosen = request.POST.getlist(ACTION_CHECKBOX_NAME)
        repeated = [
            ("action", action.name),
            ("select_across", request.POST.get("select_across", "0")),
            *((ACTION_CHECKBOX_NAME, id) for id in chosen),
        ]
        return TemplateResponse(
            request,
            template,
            {
                **self.admin_site.each_context(request),
                "title": action.title,
                "opts": self.opts,
                "action": action,
                "back": request.get_full_path(),
                **context,
                "hidden": [*repeated, *context.get("hidden", [("confirmed", "1")])],
            },
        )

    def say(self, request: HttpRequest, preview: Preview, changed: int) -> None:
        """What happened, and what was left alone and why."""
        level = messages.SUCCESS if changed else messages.WARNING
        self.message_user(request, preview.action.done % changed, level)
        for state, number in preview.left_alone:
            text = _("Left alone because they are %(state)s: %(number)s.")
            text %= {"state": state, "number": number}
            self.message_user(request, text, messages.WARNING)


def _on_many(action: Action) -> Callable[[ActingAdmin, HttpRequest, Rows], Response]:
    def act(admin: ActingAdmin, request: HttpRequest, jobs: Rows) -> Response:
        return admin.act_on_many(request, action, jobs)

    return act


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0
