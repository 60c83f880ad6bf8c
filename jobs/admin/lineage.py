"""Where a job came from, what it led to, and its trace, as far as this user may see it."""

from dataclasses import dataclass
from typing import Any

from django.contrib.admin import site
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from jobs import tracing
from jobs.admin.base import link_to, may_see, page_of
from jobs.console import lineage
from jobs.console.lineage import MOST, MOST_TRACED
from jobs.models import Attempt, Call, Job, Status, job_models


@dataclass(frozen=True)
class Relative:
    """A job of any kind on the page of another one."""

    text: str
    link: str = ""
    kind: str = ""
    status: str = ""
    label: str = ""


def trace(request: HttpRequest, trace_id: str) -> HttpResponse:
    """The page of a trace: its jobs of all kinds, and ways to their attempts and calls."""
    id = lineage.trace_in(trace_id)
    if not id:
        raise Http404(_("%(id)s is not the id of a trace.") % {"id": ascii(trace_id[:80])})
    found = lineage.in_trace(id, visible(request))
    context = {
        **site.each_context(request),
        "title": _("Trace"),
        "trace_id": id,
        "jobs": [(job, _relative(job)) for job in found[:MOST_TRACED]],
        "most": MOST_TRACED if len(found) > MOST_TRACED else None,
        "lists": [
            {"name": model._meta.verbose_name_plural, "link": link_to(model, {"q": id})}
            for model in (Attempt, Call)
            if found and may_see(request, model)
        ],
    }
    return TemplateResponse(request, "admin/jobs/trace.html", context)


def visible(request: HttpRequest) -> list[type[Job]]:
    return [model for model in job_models() if may_see(request, model)]


def describe(request: HttpRequest, job: Job) -> dict[str, Any]:
    """Context for the template of a job's page."""
    led_to = lineage.children(job, visible(request))
    kinds = dict.fromkeys(type(child) for child in led_to)
    return {
        "came_from": _parent(request, job),
        "led_to": [_relative(child) for child in led_to[:MOST]],
        "led_to_all": [
            {"kind": model._meta.verbose_name_plural, "link": link_to(model, {"q": str(job.pk)})}
            for model in kinds
            if len(led_to) > MOST
        ],
        "trace_id": (trace_id := tracing.trace_id_of(job)),
        "trace_link": reverse("admin:jobs_trace", args=[trace_id]),
    }


def _parent(request: HttpRequest, job: Job) -> Relative | None:
    if job.parent_id is None:
        return None
    found = lineage.parent(job)
    if found is None:
        return Relative(_("%(id)s, which is deleted") % {"id": job.parent_id})
    return _relative(found) if may_see(request, type(found)) else Relative(str(job.parent_id))


def _relative(job: Job) -> Relative:
    kind, label = str(job._meta.verbose_name), str(Status(job.status).label)
    return Relative(str(job), page_of(job), kind, job.status, label)
