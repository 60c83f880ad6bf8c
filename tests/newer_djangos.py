"""Runs the tests on Django 6.0 and 6.1, with the Pythons that this machine has.

    python -m tests.newer_djangos [arguments of pytest]      (make test-django6)

Django 6.0 gets the oldest Python that it runs on, Django 6.1 the newest. Each pair has a virtual
environment of its own under .judges/, with the tools of requirements-dev.txt.
"""

import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
HOME = PROJECT / ".judges"
PYTHONS = ("3.12", "3.13", "3.14")  # Django 6 needs 3.12 or newer
UV = shutil.which("uv", path=str(Path(sys.executable).parent)) or "uv"


def main(arguments: list[str]) -> int:
    found = {version: python for version in PYTHONS if (python := find(version))}
    for version in PYTHONS:
        print(f"Python {version}: {found.get(version, 'skipped, there is none here')}")
    if not found:
        print("Django 6 was not tested: it needs Python 3.12 or newer.")
        return 0
    versions = list(found)
    pairs = {"60": versions[0], "61": versions[-1]}
    return max(test(django, found[version], arguments) for django, version in pairs.items())


def find(version: str) -> Path | None:
    """An interpreter of this version: in the path, of pyenv, or one that uv knows."""
    places: list[str | Path | None] = [shutil.which(f"python{version}")]
    places += sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    known = subprocess.run([UV, "python", "find", version], capture_output=True, text=True)
    places += known.stdout.split()
    return next((Path(each) for each in places if each and is_version(each, version)), None)


def is_version(python: str | Path, version: str) -> bool:
    """Whether it runs: pyenv leaves commands in the path that only say what is missing."""
    code = f"import sys; sys.exit(sys.version_info[:2] != {tuple(map(int, version.split('.')))})"
    return subprocess.run([python, "-c", code], capture_output=True).returncode == 0


def test(django: str, python: Path, arguments: list[str]) -> int:
    environment = HOME / f"django{django}-{python_version(python)}"
    inside = environment / "bin" / "python"
    print(f"Django {django[0]}.{django[1]}, {environment.name}:", flush=True)
    if not (environment / "complete").exists():
        make(environment, python, f"requirements-django{django}.txt")
    subprocess.run([inside, "-m", "tests.jobs.tasks.judges"], cwd=PROJECT, check=True)
    return subprocess.run([inside, "-m", "pytest", *arguments], cwd=PROJECT).returncode


def make(environment: Path, python: Path, pins: str) -> None:
    run = partial(subprocess.run, cwd=PROJECT, check=True)
    run([UV, "venv", "--quiet", "--clear", "--python", python, environment])
    install = [UV, "pip", "install", "--quiet", "--require-hashes"]
    install += ["--python", str(environment / "bin" / "python")]
    run([*install, "-r", "requirements-dev.txt"])
    run([*install, "--no-deps", "-r", pins])
    (environment / "complete").touch()


def python_version(python: Path) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
