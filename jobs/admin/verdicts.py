"""The page of one call: its facts and, if its outcome is unknown, what a person can decide."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from jobs.admin.base import ByJobAdmin, page_of
from jobs.console import audit, shown, verdicts
from jobs.db import clock
from jobs.models import Call


class VerdictAdmin(ByJobAdmin):
    change_form_template = "admin/jobs/call.html"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.judge))
        return [
            path("<path:object_id>/judge/<str:verdict>/", view, name="jobs_call_judge"),
            *super().get_urls(),
        ]

    def describe(self, request: HttpRequest, call: Call) -> dict[str, Any]:
        case = verdicts.case_of(call)
        return {
            "case": case,
            "call": call,
            "duration": shown.of_call(call, clock.now()),
            "job_page": case.job and page_of(case.job),
            "choices": self.choices(request, case),
            "log": audit.about(call)[:20],
        }

    def choices(self, request: HttpRequest, case: verdicts.Case) -> list[verdicts.Choice]:
        """The decisions, with an obstacle where this user lacks a permission."""
        if not self.may(request, "change"):
            return []
        return [self.permitted(request, case, choice) for choice in case.choices]

    def permitted(
        self, request: HttpRequest, case: verdicts.Case, choice: verdicts.Choice
    ) -> verdicts.Choice:
        if choice.name != verdicts.AGAIN or choice.obstacle or may_requeue(request, case.job):
            return choice
        return replace(choice, obstacle=gettext("You lack the permission to requeue its job."))

    def judge(self, request: HttpRequest, object_id: str, verdict: str) -> HttpResponse:
        """Decide about a call, unless its answer or another decision came first."""
        if verdict not in verdicts.TITLES:
            raise Http404
        call = self.object_or_refuse(request, object_id, "change")
        offered = {each.name: each for each in self.choices(request, verdicts.case_of(call))}
        choice = offered.get(verdict)
        if call.seen != bool(request.POST.get("seen")):
            text = gettext(
                "Nothing was changed: another person has looked into this call meanwhile."
            )
            self.message_user(request, text, messages.WARNING)
        elif choice and choice.obstacle:
            self.message_user(request, choice.obstacle, messages.WARNING)
        elif choice and verdicts.decide(call, verdict, request.user):
            self.message_user(request, verdicts.DONE[verdict], messages.SUCCESS)
        else:
            text = gettext(
                "Nothing was changed: the outcome of this call has become known meanwhile."
            )
            self.message_user(request, text, messages.WARNING)
        return HttpResponseRedirect(self.page_of(call))


def may_requeue(request: HttpRequest, job: Any) -> bool:
    opts = job._meta
    return request.user.has_perm(f"{opts.app_label}.change_{opts.model_name}")
