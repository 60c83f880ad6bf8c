"""Django's Tasks API on this queue: `TASKS = {"default": {"BACKEND": "jobs.tasks.Backend"}}`.

On Django 5.2 without the package django-tasks there is only the table.
"""

from jobs.tasks import api

if api.is_installed:
    from jobs.tasks.backend import Backend
    from jobs.tasks.declared import Task, task

__all__ = ["Backend", "Task", "task"]
