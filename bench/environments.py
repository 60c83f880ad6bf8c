"""An environment for every queue, made once and kept under .bench/.

A queue with pins for pip gets a virtual environment; one with a package.json gets its packages, and
node itself, by npm.
"""

import hashlib
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
HOME = PROJECT / ".bench"
RUN = HOME / "server"  # for one run: the database server and its files
PINS = PROJECT / "bench" / "requirements"
PATIENCE = 180  # seconds for an installation


class NoEnvironment(Exception):
    """The queue's packages could not be installed."""


def program_of(queue: str) -> list[str]:
    """The program that does the queue's operations; Tabie's runs in this environment."""
    if (pins := PINS / f"{queue}.json").exists():
        node = _folder(pins) / "node_modules" / ".bin" / "node"
        return [str(node), str(PROJECT / "bench" / "inside.js")]
    pins = PINS / f"{queue}.txt"
    python = _folder(pins) / "bin" / "python" if pins.exists() else sys.executable
    return [str(python), "-m", "bench.inside"]


def variables_of(queue: str) -> dict[str, str]:
    """What the program needs to find the queue's packages."""
    pins = PINS / f"{queue}.json"
    return {"NODE_PATH": str(_folder(pins) / "node_modules")} if pins.exists() else {}


def _folder(pins: Path) -> Path:
    # The name contains a hash of the pins, so new pins get a new environment.
    version = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()[:8]
    folder = HOME / f"{pins.stem}-{version}"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        _install(pins, folder)
        (folder / "complete").touch()
    return folder


def _install(pins: Path, folder: Path) -> None:
    if pins.suffix == ".json":
        folder.mkdir(parents=True)
        shutil.copy(pins, folder / "package.json")
        _run(["npm", "install", "--prefix", folder, "--silent", "--no-audit", "--no-fund"])
        return
    venv.create(folder, with_pip=False)
    # This interpreter's pip installs: the new environment has none.
    python = str(folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install"]
    _run([*pip, "--quiet", "--no-deps", "--disable-pip-version-check", "-r", pins])


def _run(command: Sequence[str | Path]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE)
    except FileNotFoundError as error:
        raise NoEnvironment(f"{command[0]} is not installed") from error
    except subprocess.CalledProcessError as error:
        told = error.stderr.strip().splitlines() or ["no word"]
        raise NoEnvironment(f"{command[0]}: {told[-1]}") from error
    except subprocess.TimeoutExpired as error:
        raise NoEnvironment(f"installing took more than {PATIENCE} s") from error
