"""Processes that start in a fraction of the time.

They are forked from a process that has imported the libraries, and read their environment and
the settings as any `manage.py` does. This module imports nothing that needs settings.
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Of the SDKs, the workers of the tests use one.
LIBRARIES = [
    "django.contrib.admin",
    "django.contrib.postgres.fields",
    "django.core.management",
    "django.db.backends.postgresql.base",
    "django.db.backends.sqlite3.base",
    "django.db.models",
    "django.views.debug",
    "environ",
    "google.genai",
    "jsonschema",
    "PIL.ImageDraw",
    "PIL.ImageFilter",
    "PIL.ImageOps",
    "psycopg_pool",
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
    move(ROOT, environment)
    redirect(sys.stderr, stderr)
    exec(before, {})

    from django.core import management

    sys.argv = ["manage.py", *arguments]
    management.execute_from_command_line(sys.argv)


def python(arguments, environment, folder):
    """Do what `python` would with these arguments in this folder: `-c` and code, or a script."""
    with tempfile.TemporaryDirectory() as written:
        files = [Path(written, name) for name in ("stdout", "stderr")]
        process = context.Process(target=be_python, args=(arguments, environment, folder, *files))
        process.start()
        process.join()
        told = [file.read_text() for file in files]
    return subprocess.CompletedProcess(arguments, process.exitcode, *told)


def be_python(arguments, environment, folder, stdout, stderr):
    redirect(sys.stdout, stdout)
    redirect(sys.stderr, stderr)
    move(folder, environment)
    # The folder has its own copy of the project.
    sys.path[:] = [str(folder), *(path for path in sys.path if path not in ("", str(ROOT)))]
    script, *others = arguments
    if script == "-c":
        sys.argv = ["-c", *others[1:]]
        exec(others[0], {"__name__": "__main__"})
    else:
        sys.argv = arguments
        runpy.run_path(script, run_name="__main__")


def move(folder, environment):
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)


def redirect(stream, file):
    os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream.fileno())
