"""On a job's page: where it came from, and what it led to, as far as this user may see it."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from jobs.admin.base import link_to, may_see, page_of
from jobs.console import lineage
from jobs.console.lineage import MOST
from jobs.models import Job, Status, job_models


@dataclass(frozen=True)
class Relative:
    """A job of any kind on the page of another one."""

    text: str
    link: str = ""
    kind: str = ""
    status: str = ""
    label: str = ""


def describe(request: HttpRequest, job: Job) -> dict[str, Any]:
    """Context for the template of a job's page."""
    visible = [model for model in job_models() if may_see(request, model)]
    led_to = lineage.children(job, visible)
    kinds = dict.fromkeys(type(child) for child in led_to)
    return {
        "came_from": _parent(request, job),
        "led_to": [_relative(child) for child in led_to[:MOST]],
        "led_to_all": [
            {"kind": model._meta.verbose_name_plural, "link": link_to(model, {"q": str(job.pk)})}
            for model in kinds
            if len(led_to) > MOST
        ],
        "trace_id": lineage.trace_id(job),
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
