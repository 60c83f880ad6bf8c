"""Other projects' tests, which judge our backend: found in their source packages, not copied.

    python -m tests.jobs.tasks.judges      (make judges)

downloads the packages into .judges/. Where they can't be had, the tests that need them say so.
"""

import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path

import django

FOLDER = Path(__file__).resolve().parents[3] / ".judges"
DJANGO = f"django-{django.__version__}"
TASKS_DB = "django_tasks_db-0.13.0"
HAS_DJANGOS_TASKS = django.VERSION >= (6, 0)


def found(package: str) -> Path | None:
    """The unpacked source of a package, if it is there."""
    folder = FOLDER / package
    return folder if folder.is_dir() else None


def fetch(package: str) -> None:
    """Download the source package of this name and version, and unpack it."""
    name, _, version = package.rpartition("-")
    download = ["download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    download += ["--no-binary", name, "--dest", str(FOLDER), f"{name}=={version}"]
    subprocess.run([python_with_pip(), "-m", "pip", *download], check=True)
    with tarfile.open(FOLDER / f"{package}.tar.gz") as archive:
        archive.extractall(FOLDER, filter="data")


def python_with_pip() -> str:
    """This interpreter or the one that its environment was made with: one of them has pip."""
    is_here = find_spec("pip") is not None
    return sys.executable if is_here else str(Path(sys.base_prefix) / "bin" / "python3")


if __name__ == "__main__":
    for wanted in [TASKS_DB, *([DJANGO] if HAS_DJANGOS_TASKS else [])]:
        if not found(wanted):
            print(f"Fetching the tests of {wanted} ...")
            fetch(wanted)
