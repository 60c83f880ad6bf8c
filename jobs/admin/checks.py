"""Checks that the theme of the console is installed completely."""

from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, Error, register

from jobs.admin import skin

FILTERS = "unfold.contrib.filters"


@register
def check_unfold(**_: Any) -> list[CheckMessage]:
    """Lists that can be narrowed to some days need unfold's filters."""
    if not skin.IS_UNFOLD or apps.is_installed(FILTERS):
        return []
    text = f"The console uses unfold, but {FILTERS} is not installed."
    return [Error(text, hint=f'Add "{FILTERS}" to INSTALLED_APPS, after "unfold".', id="jobs.E004")]
