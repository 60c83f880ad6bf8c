"""The kinds of job that are installed: found through Django, never by a path in a row."""

from django.apps import apps

from jobs.models.job import Job


def job_models() -> list[type[Job]]:
    """Every installed kind of job."""
    return [model for model in apps.get_models() if issubclass(model, Job)]


def model_of(kind: str) -> type[Job] | None:
    """The kind of job with this label (app.Model), if this code knows it."""
    return next((model for model in job_models() if model._meta.label == kind), None)


def used_providers() -> set[str]:
    """The providers that the installed kinds of job name now."""
    return {name for model in job_models() for name in model.provider_names()}
