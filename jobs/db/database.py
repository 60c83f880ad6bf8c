"""Which database this process serves, where a project names several: the setting DATABASE."""

from django.conf import settings


def name() -> str:
    """Empty, if there is only one."""
    return str(getattr(settings, "DATABASE", ""))
