"""Every kind of job has pages in the console, also one whose app says nothing about the admin."""

from django.contrib import admin

from jobs.admin.jobs import JobAdmin
from jobs.models import job_models


def register_all() -> None:
    """Register the job models that no admin module has registered."""
    admin.autodiscover()  # a second time changes nothing
    for model in job_models():
        if not admin.site.is_registered(model):
            admin.site.register(model, JobAdmin)
