import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from config.embedded.server import Server

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tmp():
    """A folder with a short name, whose servers are stopped at the end."""
    folder = Path(tempfile.mkdtemp(prefix="tabie-"))
    folder.chmod(0o755)
    yield folder
    for data in folder.rglob("postmaster.pid"):
        Server(data.parents[1]).stop()
    shutil.rmtree(folder)


@pytest.fixture
def server(tmp):
    return Server(tmp / "pg", durable=False)


@pytest.fixture
def checkout(tmp):
    """The project as it is just after cloning: no .env, no database."""
    for name in ["config", "guides", "jobs", "templates"]:
        shutil.copytree(ROOT / name, tmp / name, ignore=shutil.ignore_patterns("__pycache__"))
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
