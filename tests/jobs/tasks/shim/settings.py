"""The settings of those tests: a database of their own, and the stand-in."""

from pathlib import Path

from config.settings import *  # noqa: F403
from config.settings import DATABASES, INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "django_tasks_db", "tests"]
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
DATABASES["default"]["TEST"] = {"NAME": str(Path.cwd() / "judged.sqlite3")}
LOGGING = {"version": 1, "disable_existing_loggers": False}
