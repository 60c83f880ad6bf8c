"""The examples of the docs, run as they are printed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
ADMIN = """
from django.contrib import admin
from jobs.admin import JobAdmin
from postcards.models import Postcard

admin.site.register(Postcard, JobAdmin)
"""
PRINT = """
print(list(Postcard.objects.order_by("address").values_list("status", "text")))
"""
OPEN_CONSOLE = """
from django.contrib.auth.models import User
from django.test import Client

client = Client(headers={"host": "localhost"})
client.force_login(User.objects.create_superuser("anna"))
for address in ["/admin/", "/admin/console/", "/admin/postcards/postcard/"]:
    print(client.get(address).status_code)
"""


def examples(page):
    blocks = re.findall(r"^ *```python\n(.+?)^ *```", page.read_text(), re.DOTALL | re.MULTILINE)
    return [dedent(block) for block in blocks]


MODEL, ENQUEUE = examples(ROOT / "README.md")
SETTINGS, URLS = examples(ROOT / "docs" / "own-project.md")


@pytest.fixture
def manage(tmp):
    """Run manage.py of the project in `tmp`; returns its output."""

    def manage(*arguments):
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=tmp,
            env={
                "PATH": os.environ["PATH"],
                "DEBUG": "true",
                "DATABASE_URL": "sqlite:///x.sqlite3",
            },
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return manage


def add_postcards(folder, settings):
    (folder / "postcards").mkdir()
    (folder / "postcards" / "models.py").write_text(MODEL)
    (folder / "postcards" / "admin.py").write_text(ADMIN)
    with settings.open("a") as file:
        file.write('\nINSTALLED_APPS = [*INSTALLED_APPS, "postcards"]\n')


def assert_postcards_are_written(manage):
    manage("makemigrations", "postcards")
    manage("migrate", "--verbosity", "0")
    manage("shell", "--verbosity", "0", "--command", ENQUEUE)
    manage("runworker", "--drain")
    # Enqueueing again changes nothing.
    printed = manage("shell", "--verbosity", "0", "--command", ENQUEUE + PRINT)
    assert printed == (
        "[('succeeded', 'Greetings to Anna!'), ('succeeded', 'Greetings to Ben!')]\n"
    )


def test_the_job_in_the_readme_runs(checkout, manage):
    add_postcards(checkout, checkout / "config" / "settings.py")

    assert_postcards_are_written(manage)


def test_the_queue_can_be_taken_along_into_another_project(tmp, manage):
    subprocess.run([sys.executable, "-m", "django", "startproject", "site1", tmp], check=True)
    shutil.copytree(ROOT / "jobs", tmp / "jobs", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "templates" / "admin" / "jobs", tmp / "templates" / "admin" / "jobs")
    shutil.copy(ROOT / "templates" / "admin" / "index.html", tmp / "templates" / "admin")
    with (tmp / "site1" / "settings.py").open("a") as file:
        file.write(SETTINGS)
    (tmp / "site1" / "urls.py").write_text(URLS)
    add_postcards(tmp, tmp / "site1" / "settings.py")

    assert_postcards_are_written(manage)
    console = manage("shell", "--verbosity", "0", "--command", OPEN_CONSOLE)

    assert console == "200\n200\n200\n"
