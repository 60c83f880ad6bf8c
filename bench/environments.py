"""A virtual environment for every queue, made once and kept under .bench/."""

import hashlib
import shutil
import subprocess
import sys
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
HOME = PROJECT / ".bench"
RUN = HOME / "server"  # for one run: the database server and its files
PATIENCE = 180  # seconds for an installation


class NoEnvironment(Exception):
    """The queue's packages could not be installed."""


def python_of(queue: str) -> Path:
    """Find the interpreter with the queue's packages; for Tabie it is this one."""
    pins = PROJECT / "bench" / "requirements" / f"{queue}.txt"
    if not pins.exists():
        return Path(sys.executable)
    # The name contains a hash of the pins, so new pins get a new environment.
    version = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()[:8]
    folder = HOME / f"{queue}-{version}"
    if not (folder / "complete").exists():
        _install(pins, folder)
        (folder / "complete").touch()
    return folder / "bin" / "python"


def _install(pins: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=False)
    try:
        # This interpreter's pip installs: the new environment has none.
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install"),
                *("--quiet", "--no-deps", "--disable-pip-version-check", "-r", pins),
            ],
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    except subprocess.CalledProcessError as error:
        raise NoEnvironment(error.stderr.strip().splitlines()[-1]) from error
    except subprocess.TimeoutExpired as error:
        raise NoEnvironment(f"installing took more than {PATIENCE} s") from error
