"""Stands in for the package django-tasks-db, so that its tests run on our backend."""

from jobs.tasks import Backend as DatabaseBackend
from jobs.tasks import api as compat

__all__ = ["DatabaseBackend", "compat"]
