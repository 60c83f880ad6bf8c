"""Checks that a job model keeps the constraints and indexes of Job."""

from typing import Any

from django.core.checks import CheckMessage, Error, register

from jobs.models import Job, job_models

KINDS = ("constraints", "indexes")


@register
def check_job_models(**_: Any) -> list[CheckMessage]:
    """A Meta that does not extend Job.Meta loses the constraints that guard every move."""
    return [
        Error(
            f"{model._meta.label} has lost constraints or indexes of Job.",
            hint="Write `class Meta(Job.Meta):`, and `*Job.Meta.constraints` first in its lists.",
            obj=model,
            id="jobs.E001",
        )
        for model in job_models()
        if any(len(ours(model, kind)) < len(getattr(Job.Meta, kind)) for kind in KINDS)
    ]


def ours(model: type[Job], kind: str) -> list[Any]:
    """The constraints or indexes that the model inherited from Job, found by name."""
    names = {item.name % {"class": model.__name__.lower()} for item in getattr(Job.Meta, kind)}
    return [item for item in getattr(model._meta, kind) if item.name in names]
