"""The examples of the docs, run as they are printed."""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
PRINT = """
print(list(Postcard.objects.order_by("address").values_list("status", "text")))
"""
PRINT_POSTCARDS = "from postcards.models import Postcard" + PRINT
WRITTEN = "[('succeeded', 'Greetings to Anna!'), ('succeeded', 'Greetings to Ben!')]\n"
OPEN_CONSOLE = """
from django.contrib.auth.models import User
from django.test import Client

client = Client(headers={"host": "localhost"})
client.force_login(User.objects.create_superuser("anna"))
for address in ["/admin/", "/admin/console/", "/admin/postcards/postcard/"]:
    print(client.get(address).status_code)
"""


def examples(page, language="python"):
    pattern = rf"^ *```{language}\n(.+?)^ *```"
    blocks = re.findall(pattern, (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    return [dedent(block) for block in blocks]


MODEL, ENQUEUE = examples("README.md")
_RUN, _TEST, INSTALL, PERFORM = examples("README.md", "sh")
SETTINGS, URLS = examples("docs/own-project.md")
COPY, START = examples("docs/own-project.md", "sh")
SHELL = ".venv/bin/python manage.py shell --verbosity 0"


@pytest.fixture
def paste(tmp):
    """Paste commands into a terminal, in this folder; returns what they print."""

    def paste(commands, typed="", folder=tmp):
        done = subprocess.run(
            ["bash", "-e", "-c", commands],
            cwd=folder,
            input=typed,
            env={
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "DEBUG": "true",
                "DATABASE_URL": "sqlite:///x.sqlite3",
            },
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return paste


def add_postcards(folder):
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "postcards").mkdir()
    (folder / "postcards" / "models.py").write_text(MODEL)


def test_the_job_in_the_readme_runs_as_it_is_printed(checkout, paste):
    add_postcards(checkout)

    paste(INSTALL)
    paste(SHELL, ENQUEUE)
    listed = paste(PERFORM)

    assert listed.count(" succeeded ") == 2
    # Enqueueing again changes nothing.
    assert paste(SHELL, ENQUEUE + PRINT) == WRITTEN


def test_the_queue_can_be_taken_along_into_another_project(tmp, paste):
    (tmp / "tabie").symlink_to(ROOT)
    own = tmp / "own"
    own.mkdir()
    paste("python -m django startproject site1 .", folder=own)
    paste(re.sub(r"^python -m pip .*\n", "", COPY), folder=own)
    with (own / "site1" / "settings.py").open("a") as file:
        file.write(SETTINGS + '\nINSTALLED_APPS += ["postcards"]\n')
    (own / "site1" / "urls.py").write_text(URLS)
    add_postcards(own)
    *migrate, work = START.splitlines()

    paste("\n".join(migrate), folder=own)
    paste(SHELL, ENQUEUE, folder=own)
    paste(f"{work} --drain", folder=own)

    assert paste(SHELL, PRINT_POSTCARDS, folder=own) == WRITTEN
    assert paste(SHELL, OPEN_CONSOLE, folder=own) == "200\n200\n200\n"


def test_every_target_of_make_that_is_named_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    named = {name for page in pages for name in re.findall(r"`make ([a-z-]+)", page.read_text())}

    assert named - targets == set()
