"""The queue as a package of its own, in projects that have nothing of Tabie."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import jobs
from tests.config.printed import ROOT, examples
from tests.jobs import forked

UV = Path(sys.executable).with_name("uv")
PAGE = "docs/use-it-in-your-project.md"
INSTALL, SETTINGS, START, WORK, DECLARE, RUN, _SERVE = examples(PAGE, "sh")
ENQUEUE, CALL, UNFOLD = examples(PAGE)
*MIGRATE, _TEST = START.splitlines()
PYTHON = ".venv/bin/python "
SHELL = f"{PYTHON}manage.py shell --verbosity 0"
OPEN_EVERY_PAGE = Path(__file__).with_name("every_page.py").read_text()
ALL_OPEN = "[] True\n"
# In quick tests: the packages of this environment instead of a new one.
START_PROJECT = "from django.core import management; management.execute_from_command_line()"
OWN_USERS = """
import uuid

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models


class People(BaseUserManager):
    def create_superuser(self, **columns):
        return self.create(is_superuser=True, **columns)


class Person(AbstractBaseUser, PermissionsMixin):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    email = models.EmailField(unique=True)
    USERNAME_FIELD = "email"
    is_staff = True
    objects = People()
"""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    if not UV.exists():
        pytest.skip("uv builds the package, and this machine has none.")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([UV, "build", "--wheel", "--quiet", "--out-dir", folder, ROOT], check=True)
    [file] = folder.glob("*.whl")
    return file


@pytest.fixture
def project(tmp, wheel):
    """A new project that has the package."""
    zipfile.ZipFile(wheel).extractall(tmp)
    *_, start = INSTALL.splitlines()
    quickly(tmp, "-c", START_PROJECT, *shlex.split(start)[1:])
    add(tmp, SETTINGS.split("END")[1].lstrip("'"))
    return tmp


def quickly(folder, *arguments):
    done = forked.python(list(arguments), {"PATH": os.environ["PATH"]}, folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def manage(folder, *arguments):
    return quickly(folder, "manage.py", *arguments)


def shell(folder, code):
    return manage(folder, "shell", "--verbosity", "0", "--command", code)


def paste_quickly(folder, commands):
    """Do these lines one by one; returns what the last one prints."""
    for line in commands.splitlines():
        if line.startswith(PYTHON):
            told = quickly(folder, *shlex.split(line.removeprefix(PYTHON)))
        else:
            subprocess.run(["bash", "-c", line], cwd=folder, check=True)
    return told


def add(folder, settings):
    with (folder / "mysite" / "settings.py").open("a") as file:
        file.write(f"\n{settings}\n")


def succeeded(listed):
    return set(re.findall(r" succeeded +(\w+)", listed))


def test_it_has_all_of_the_queue_and_nothing_else(wheel):
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "jobs"]
    known = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}

    assert {name for name in packed if ".dist-info/" not in name} == set(known.split())
    assert {"jobs/py.typed", "jobs/static/jobs/console.css"} <= packed


def test_it_has_the_version_of_the_code():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert project["version"] == jobs.__version__


@pytest.mark.long
def test_a_project_that_follows_the_page_has_jobs_and_a_console(project):
    paste_quickly(project, START)
    shell(project, ENQUEUE)

    assert succeeded(paste_quickly(project, WORK)) == {"Anna", "Ben"}
    assert shell(project, OPEN_EVERY_PAGE) == ALL_OPEN
    add(project, UNFOLD)
    assert shell(project, OPEN_EVERY_PAGE) == ALL_OPEN


def test_a_project_that_follows_the_page_has_a_task(project):
    paste_quickly(project, "\n".join(MIGRATE))
    _pip, *declare = DECLARE.splitlines()
    subprocess.run(["bash", "-c", "\n".join(declare)], cwd=project, check=True)
    shell(project, CALL)

    assert succeeded(paste_quickly(project, RUN)) == {"postcards"}


@pytest.mark.long
def test_a_project_needs_no_admin(project):
    add(project, 'INSTALLED_APPS.remove("django.contrib.admin")')
    (project / "mysite" / "urls.py").write_text("urlpatterns = []\n")
    paste_quickly(project, "\n".join(MIGRATE))
    shell(project, ENQUEUE)

    assert succeeded(paste_quickly(project, WORK)) == {"Anna", "Ben"}
    manage(project, "jobs", "pause", "postcards.Postcard")


@pytest.mark.long
def test_a_project_may_have_users_of_its_own(project):
    (project / "people").mkdir()
    (project / "people" / "models.py").write_text(OWN_USERS)
    add(project, 'INSTALLED_APPS += ["people"]; AUTH_USER_MODEL = "people.Person"')
    manage(project, "makemigrations", "people")
    paste_quickly(project, "\n".join(MIGRATE))

    assert shell(project, OPEN_EVERY_PAGE) == ALL_OPEN
    manage(project, "jobs", "pause", "postcards.Postcard")


@pytest.mark.search
@pytest.mark.skipif("FRESH" not in os.environ, reason="`make test-long` installs the package")
def test_the_page_can_be_followed_word_by_word(tmp, wheel, paste):
    """In an environment of its own, with uv for venv and pip: both take half a minute."""
    (tmp / "tabie" / "dist").mkdir(parents=True)
    shutil.copy(wheel, tmp / "tabie" / "dist")
    (own := tmp / "own").mkdir()
    install = INSTALL.replace("python3 -m venv", "uv venv --quiet")
    install = install.replace(".venv/bin/pip install", f"uv pip install --python {PYTHON}")
    if offline := without_index(own):
        pytest.skip(f"No package index can be reached from here: {offline}")

    paste(install, folder=own, **os.environ)  # which says where the index is
    for commands in (SETTINGS, START):
        paste(commands, folder=own)
    paste(SHELL, ENQUEUE, folder=own)

    assert succeeded(paste(WORK, folder=own)) == {"Anna", "Ben"}
    declare = DECLARE.replace(".venv/bin/pip install", f"uv pip install --python {PYTHON}")
    paste(declare, folder=own, **os.environ)
    paste(SHELL, CALL, folder=own)
    assert succeeded(paste(RUN, folder=own)) == {"postcards"}
    assert paste(SHELL, OPEN_EVERY_PAGE, folder=own) == ALL_OPEN


def without_index(folder):
    """Why packages can't be had; empty if they can."""
    asked = [UV, "pip", "install", "--quiet", "--dry-run", "--python", sys.executable, "-U", "pip"]
    return subprocess.run(asked, cwd=folder, capture_output=True, text=True).stderr.strip()
