"""The switch of a kind of job, above its list and on the dashboard."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from jobs.admin.acting import ActingAdmin
from jobs.admin.base import list_of
from jobs.console import audit, job_waits, sentences
from jobs.db import clock
from jobs.models import Job, Pause
from jobs.paid import waiting
from jobs.queue import pausing

LONGEST = 366 * 24 * 60  # minutes


class PauseForm(forms.Form):
    """The reason and the length of a pause; without a length it lasts until a person resumes it."""

    reason = forms.CharField(label=_("reason"), required=False, max_length=500)
    minutes = forms.IntegerField(
        label=_("minutes (optional)"), required=False, min_value=1, max_value=LONGEST
    )


@dataclass(frozen=True)
class ShownPause:
    """Whether a kind of job is paused, and what this user may do about it."""

    kind: str
    text: str  # empty: it is not paused
    lasts: bool  # until a person resumes it
    pause_link: str  # empty: this user may not act
    resume_link: str


def shown_pause(request: HttpRequest, model: type[Job], pause: Pause | None) -> ShownPause | None:
    """None if there is nothing to show to this user."""
    app, name = model._meta.app_label, model._meta.model_name
    may_act = request.user.has_perm(f"{app}.change_{name}")
    if not (may_act or pause):
        return None
    return ShownPause(
        kind=str(model._meta.verbose_name_plural),
        text=job_waits.full_text(waiting.paused(pause)) if pause else "",
        lasts=bool(pause and pause.until is None),
        pause_link=reverse(f"admin:{app}_{name}_pause") if may_act else "",
        resume_link=reverse(f"admin:{app}_{name}_resume") if may_act and pause else "",
    )


class PausingAdmin(ActingAdmin):
    """Lists of jobs whose whole kind can be paused and resumed."""

    def pause_shown(self, request: HttpRequest) -> ShownPause | None:
        return shown_pause(request, self.model, waiting.pause_of(self.model))

    def get_urls(self) -> list[URLPattern]:
        pause = self.admin_site.admin_view(require_http_methods(["GET", "POST"])(self.pause))
        resume = self.admin_site.admin_view(require_POST(self.resume))
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        return [
            path("pause/", pause, name=f"{name}_pause"),
            path("resume/", resume, name=f"{name}_resume"),
            *super().get_urls(),
        ]

    def pause(self, request: HttpRequest) -> HttpResponse:
        """A GET asks for the reason, a POST pauses; both need the permission to change jobs."""
        self.refuse_unless_operator(request)
        form = PauseForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            self._pause(request, **form.cleaned_data)
            return self.back(request)
        title = gettext("Pause %(kind)s") % {"kind": self.opts.verbose_name_plural}
        context: dict[str, Any] = {
            **self.page_context(request, title),
            "form": form,
            "from": request.GET.get("from") or request.POST.get("from", ""),
            "back": list_of(self.model),
        }
        return TemplateResponse(request, "admin/jobs/pause_kind.html", context)

    def _pause(self, request: HttpRequest, reason: str, minutes: int | None) -> None:
        reason = reason or sentences.PAUSED % request.user
        until = clock.now() + timedelta(minutes=minutes) if minutes else None
        with transaction.atomic():
            is_new = pausing.pause(self.opts.label, reason, until, by=request.user)
            if is_new:
                audit.note_kind(request.user, self.model, sentences.paused(until, reason))
        if is_new:
            text = gettext("Paused for every worker: %(kind)s. Running ones finish.")
            self.message_user(request, text % self._named, messages.SUCCESS)
        else:
            text = gettext("%(kind)s: the pause lasts longer already, and was kept.")
            self.message_user(request, text % self._named, messages.WARNING)

    def resume(self, request: HttpRequest) -> HttpResponse:
        self.refuse_unless_operator(request)
        with transaction.atomic():
            was_paused = pausing.resume(self.opts.label, by=request.user)
            if was_paused:
                audit.note_kind(request.user, self.model, sentences.RESUMED)
        text = gettext("%(kind)s start again.")
        if not was_paused:
            text = gettext("%(kind)s were not paused any more.")
        level = messages.SUCCESS if was_paused else messages.WARNING
        self.message_user(request, text % self._named, level)
        return self.back(request)

    @property
    def _named(self) -> dict[str, str]:
        return {"kind": capfirst(str(self.opts.verbose_name_plural))}

    def refuse_unless_operator(self, request: HttpRequest) -> None:
        if not self.may(request, "change"):
            raise PermissionDenied

    def back(self, request: HttpRequest) -> HttpResponse:
        from_dashboard = request.POST.get("from") == "dashboard"
        return HttpResponseRedirect(
            reverse("admin:index") if from_dashboard else list_of(self.model)
        )
