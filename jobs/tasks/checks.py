"""Checks that the backend can be used: `manage.py check` reports it."""

from django.apps import apps
from django.core.checks import CheckMessage, Error


def check_backend(alias: str) -> list[CheckMessage]:
    if apps.is_installed("jobs"):
        return []
    text = f"TASKS[{alias!r}] keeps its tasks in tables of the app jobs, which is not installed."
    return [Error(text, hint="Add 'jobs' to INSTALLED_APPS.", id="jobs.E005")]
