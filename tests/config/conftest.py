import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from config.embedded.server import Server
from tests.jobs import forked
from tests.jobs.processes import environment

ROOT = Path(__file__).parents[2]
HALF_WRITTEN = shutil.ignore_patterns("*.pyc.*")  # another process compiles, and renames them


@pytest.fixture
def tmp():
    """A folder with a short name, whose servers are stopped at the end."""
    folder = Path(tempfile.mkdtemp(prefix="tabie-"))
    folder.chmod(0o755)
    yield folder
    for data in list(folder.rglob("postmaster.pid")):  # a stop removes folders
        Server(data.parents[1]).stop()
    shutil.rmtree(folder)


@pytest.fixture
def server(tmp):
    return Server(tmp / "pg", durable=False)


@pytest.fixture
def checkout(tmp):
    """The project as it is just after cloning: no .env, no database.

    Compiled modules come along: they stay valid, and no process has to compile them again.
    """
    for name in ["config", "guides", "jobs", "templates"]:
        shutil.copytree(ROOT / name, tmp / name, ignore=HALF_WRITTEN)
    shutil.copy(ROOT / "manage.py", tmp)
    return tmp


@pytest.fixture
def python(checkout):
    """Run Python in the checkout, with only the given environment."""

    def run(*arguments, **environment):
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=checkout,
            env={"PATH": os.environ["PATH"], **environment},
            capture_output=True,
            text=True,
        )

    return run


@pytest.fixture
def quick_python(checkout):
    """As `python`, but forked: for tests of what is read, not of how a process starts."""

    def run(*arguments, **environment):
        return forked.python(list(arguments), {"PATH": os.environ["PATH"], **environment}, checkout)

    return run


@pytest.fixture
def start(checkout):
    """Start Python in the checkout as `make run` does; it is stopped at the end of the test."""
    started = []

    def start(*arguments, cwd=checkout, **environment):
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=cwd,
            env={
                "PATH": os.environ["PATH"],
                "DJANGO_SETTINGS_MODULE": "config.settings",
                "DEBUG": "true",
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.terminate()  # SIGKILL would leave its children running
            process.terminate()  # the second signal hurries it
            process.wait(timeout=90)
        process.stdout.close()


def free_port():
    """A free port that the system gives to no other program before the test uses it."""
    while True:
        port = random.randrange(20_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def paste(tmp):
    """Paste commands into a terminal, in this folder; returns what they print."""

    def paste(commands, typed="", folder=tmp, **environment):
        done = subprocess.run(
            ["bash", "-e", "-c", commands],
            cwd=folder,
            input=typed,
            env={
                **environment,
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


PRODUCTION = {
    "SECRET_KEY": "a-long-random-text-known-to-nobody-0123456789-abcdefghijkl",
    "ALLOWED_HOSTS": "example.org",
    "DATABASE_URL": "postgresql://tabie@localhost/tabie",
}


def setting(name):
    return ["-c", f"from config import settings; print(settings.{name})"]


def server_environment():
    """A server's settings, with the database of this test run."""
    database = {**environment(), "DJANGO_SETTINGS_MODULE": "config.settings"}
    options = {"PATH": os.environ["PATH"], "SECURE_SSL_REDIRECT": "false", "LOG_FORMAT": "json"}
    options["WEB_STATEMENT_TIMEOUT"] = "600"  # on a slow machine too
    return {**PRODUCTION, **options, **database}
