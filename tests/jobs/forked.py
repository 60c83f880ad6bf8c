"""Worker processes that start in a fraction of the time.

They are forked from a process that has imported the libraries, and read their environment and
the settings as any `manage.py` does. This module imports nothing that needs settings.
"""

import multiprocessing
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Of the SDKs, the workers of the tests use one.
LIBRARIES = [
    "django.contrib.admin",
    "django.core.management",
    "django.db.models",
    "environ",
    "google.genai",
    "PIL.Image",
    "psycopg",
    "unfold",
]
context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(LIBRARIES)


def start(arguments, environment, stderr, before=""):
    """Start `manage.py` with these arguments, after the code in `before`."""
    process = context.Process(target=run, args=(arguments, environment, stderr, before))
    process.start()
    return process


def run(arguments, environment, stderr, before):
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_APPEND), sys.stderr.fileno())
    exec(before, {})

    from django.core import management

    sys.argv = ["manage.py", *arguments]
    management.execute_from_command_line(sys.argv)
