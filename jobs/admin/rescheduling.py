"""Another time or priority: a form for one queued job, and for many."""

from datetime import datetime
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from jobs.admin.acting import ActingAdmin, Response
from jobs.admin.base import Rows
from jobs.console import actions, counting, rescheduling
from jobs.console.rescheduling import NAME, TITLE, Wish
from jobs.db import clock
from jobs.models import Job, Status
from jobs.queue.rescheduling import LARGEST, LATEST, SMALLEST, in_batch

TEMPLATE = "admin/jobs/reschedule.html"


class RescheduleForm(forms.Form):
    """A time in the site's zone, a priority, or both."""

    at = forms.DateTimeField(label=_("not before"), required=False)
    priority = forms.IntegerField(
        label=_("priority (lower first)"), required=False, min_value=SMALLEST, max_value=LARGEST
    )

    def clean_at(self) -> datetime | None:
        at: datetime | None = self.cleaned_data["at"]
        if at and at > clock.now() + LATEST:
            text = gettext("At most %(days)s days from now.") % {"days": LATEST.days}
            raise forms.ValidationError(text)
        return at

    def clean(self) -> None:
        given = [self.cleaned_data.get(name) for name in ("at", "priority")]
        if not self.errors and given == [None, None]:
            self.add_error("at", gettext("Give a time, a priority, or both."))

    @property
    def wish(self) -> Wish:
        return Wish(self.cleaned_data["at"], self.cleaned_data["priority"])


class ReschedulingAdmin(ActingAdmin):
    """Queued jobs can be given another time or priority."""

    # One

    def get_urls(self) -> list[URLPattern]:
        view = require_http_methods(["GET", "POST"])(self.reschedule)
        name = f"{self.opts.app_label}_{self.opts.model_name}_reschedule"
        return [
            path("<path:object_id>/reschedule/", self.admin_site.admin_view(view), name=name),
            *super().get_urls(),
        ]

    def reschedule_link(self, request: HttpRequest, job: Job) -> str:
        """Empty if this user can't act on it now."""
        if job.status != Status.QUEUED or not self.may(request, "change"):
            return ""
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_reschedule"
        return reverse(name, args=[job.pk])

    def reschedule(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """A GET shows the form, a POST acts; both need the permission to change jobs."""
        job = self.object_or_refuse(request, object_id, "change")
        form = RescheduleForm(request.POST if request.method == "POST" else None)
        if form.is_valid():
            self._act(request, rescheduling.action(form.wish), job.pk)
            return HttpResponseRedirect(self.page_of(job))
        context = {
            **self.page_context(request, TITLE),
            **self.form_facts(form, self.model.objects.filter(pk=job.pk)),
            "job": job,
            "back": self.page_of(job),
        }
        return TemplateResponse(request, TEMPLATE, context)

    # Many

    def list_actions(self, request: HttpRequest) -> dict[str, Any]:
        found: dict[str, Any] = super().list_actions(request)
        if self.may(request, "change"):
            found[NAME] = (_reschedule_many, NAME, str(TITLE))
        return found

    def reschedule_many(self, request: HttpRequest, jobs: Rows) -> Response:
        """First the form with a preview, then the work in pieces; each repeats the form."""
        form = RescheduleForm(request.POST if "before" in request.POST else None)
        if form.is_valid():
            return self.act_on_many(request, rescheduling.action(form.wish), jobs)
        action = rescheduling.action(Wish())
        preview = actions.preview(action, jobs)
        hidden = [("before", preview.before.isoformat()), *self.left_alone(preview)]
        facts = self.form_facts(form, jobs)
        return self.ask(request, TEMPLATE, action, hidden, preview=preview, **facts)

    def form_facts(self, form: forms.Form, jobs: Rows) -> dict[str, Any]:
        return {
            "form": form,
            "zone": timezone.get_current_timezone_name(),
            "in_batch": counting.count(in_batch(jobs)),
        }


def _reschedule_many(admin: ReschedulingAdmin, request: HttpRequest, jobs: Rows) -> Response:
    return admin.reschedule_many(request, jobs)
