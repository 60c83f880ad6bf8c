"""What `manage.py dev` does: the database, the web server and a worker, until Ctrl-C."""

import errno
import fcntl
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError, connections

from config import databases, processes
from config.embedded.server import Server
from guides import demo
from jobs.db import text

HOST = "127.0.0.1"
ADMIN = "admin"
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Child = subprocess.Popen[bytes]
Guard = Callable[[object], None]


def run(port_name: str) -> int:
    """Prepare and supervise; report any obstacle before anything is started."""
    refuse_production()
    port = read_port(port_name)
    with only_instance():
        wait_for_guard()
        refuse_taken(port)
        for number in STOP_SIGNALS:
            signal.signal(number, signal.default_int_handler)  # until supervise() takes over
        with guarded() as guard:
            try:
                prepare()
                threading.Thread(target=announce, args=[port], daemon=True).start()
                return supervise(
                    {
                        # With the reloader, though it costs a process: without it an edited
                        # template would not show.
                        "web": ["runserver", f"{HOST}:{port}"],
                        "worker": ["runworker"],
                    },
                    guard,
                )
            except KeyboardInterrupt:
                return 1
            finally:
                stop_database()


def refuse_production() -> None:
    if not settings.DEBUG:
        raise CommandError(
            "This is for development: it makes an admin and demo guides. Set DEBUG=true, or "
            "start what you need: manage.py migrate, manage.py runworker and a WSGI server."
        )


def read_port(name: str) -> int:
    if name.isascii() and name.isdigit() and 0 < int(name) < 65536:
        return int(name)
    raise CommandError(f"PORT={name}: it must be a number from 1 to 65535.")


def home() -> Path:
    """The folder of the database that this process serves, or the project's folder itself."""
    folder = databases.home(settings.BASE_DIR, settings.DATABASE)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def only_instance() -> Iterator[None]:
    """Lock the folder itself: it leaves no file, and ends with this process."""
    folder = os.open(home(), os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CommandError(
                f"Tabie runs from {settings.BASE_DIR} already{of_database()}: stop it with "
                "Ctrl-C in its terminal, or with `make stop`. To add a worker: "
                f"`make worker{settings.DATABASE and f' DATABASE={settings.DATABASE}'}`."
            ) from None
        yield
    finally:
        os.close(folder)


def guard_lock() -> Path:
    """A file that the guard locks; of the project's folder, one that is there anyway."""
    if not settings.DATABASE:
        return settings.BASE_DIR / "manage.py"
    lock = home() / "guard"
    lock.touch()
    return lock


def wait_for_guard() -> None:
    """Let the guard of a killed run finish: it still ends that run's processes."""
    with guard_lock().open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting until the processes of the last run have ended.")
            fcntl.flock(file, fcntl.LOCK_EX)


@contextmanager
def guarded() -> Iterator[Guard]:
    """Have everything ended by another process (config/guard.py) if this one is killed."""
    guard = subprocess.Popen(
        [sys.executable, "-m", "config.guard", str(guard_lock()), *database_folders()],
        cwd=settings.BASE_DIR,
        stdin=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is not for the guard
    )
    pipe = guard.stdin
    assert pipe

    def tell(word: object) -> None:
        with suppress(OSError):  # without a guard everything else still works
            os.write(pipe.fileno(), f"{word}\n".encode())

    try:
        yield tell
    finally:
        tell("done")
        pipe.close()
        guard.wait()


def refuse_taken(port: int) -> None:
    try:
        socket.create_server((HOST, port)).close()
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise CommandError(f"Port {port} can't be used: {error.strerror}.") from None
        other = port + 1 if port < 65535 else 8000
        raise CommandError(
            f"Port {port} is taken: stop what listens there, or set PORT={other}.{holder(port)}"
        ) from None


def holder(port: int) -> str:
    """Name the process at a port, and how to end it; empty if it is another user's."""
    process = processes.listener(port)
    if process is None:
        return ""
    is_ours = process.pid in [each.pid for each in processes.ours(settings.BASE_DIR)]
    way = "make stop" if is_ours else f"kill {process.pid}"
    command = text.printable(process.command[:120])
    return f" It is process {process.pid} ({command}): `{way}` ends it."


def prepare() -> None:
    try:
        call_command("migrate", verbosity=0)
        if new := demo.load():
            say(f"Demo guides saved: {new}.")
        ensure_admin()
    except OperationalError as error:
        raise CommandError(str(error)) from error
    finally:
        connections.close_all()


def ensure_admin() -> None:
    users = get_user_model().objects
    if users.filter(username=ADMIN).exists():
        say(f"Admin login: {ADMIN}. For a new password: manage.py changepassword {ADMIN}")
    else:
        password = secrets.token_urlsafe(12)
        users.create_superuser(ADMIN, password=password)
        say(f"Admin login: {ADMIN}, password {password} (shown only this once).")


def announce(port: int) -> None:
    """Print the address as soon as the web server answers."""
    while True:
        with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
            break
        time.sleep(0.1)
    address = f"http://{HOST}:{port}/{of_database()}"
    say(f"\n    Tabie is ready: {address}\n    Admin: /admin/. Ctrl-C stops it.\n")


def of_database() -> str:
    return f" (database {settings.DATABASE})" if settings.DATABASE else ""


def supervise(commands: dict[str, list[str]], guard: Guard = lambda group: None) -> int:
    """Run commands until one ends or a signal comes, then end all of them and wait.

    A second signal is passed on as well: it tells a draining worker to hurry.
    """
    asked: list[int] = []
    for number in STOP_SIGNALS:
        signal.signal(number, lambda number, frame: asked.append(number))
    children = {}
    for name, command in commands.items():
        children[name] = start(command)
        guard(children[name].pid)
    relays = [relay(name, child) for name, child in children.items()]
    told = answered = 0
    while None in [child.poll() for child in children.values()]:
        ended = [name for name, child in children.items() if child.returncode is not None]
        if answered < len(asked) or (ended and not told):
            answered = len(asked)
            told += 1
            say(reason_to_stop(ended, told))
            tell_to_stop(children)
        time.sleep(0.1)
    for thread in relays:
        thread.join(timeout=1)
    return 0 if asked else 1


def start(command: list[str]) -> Child:
    return subprocess.Popen(
        [sys.executable, "manage.py", *command],
        cwd=settings.BASE_DIR,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "DJANGO_RUNSERVER_HIDE_WARNING": "true"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        # A new session, so that Ctrl-C reaches the child only once: as the SIGTERM we send.
        start_new_session=True,
    )


def relay(name: str, child: Child) -> threading.Thread:
    """Print a child's output with the child's name before each line."""
    prefix = f"{name:6} | ".encode()

    def pass_on() -> None:
        assert child.stdout
        for line in child.stdout:
            # Read on even if the terminal is gone: a full pipe would block the child.
            with suppress(OSError):
                sys.stdout.buffer.write(prefix + line.rstrip(b"\r\n") + b"\n")
                sys.stdout.buffer.flush()

    thread = threading.Thread(target=pass_on, daemon=True)
    thread.start()
    return thread


def reason_to_stop(ended: list[str], told: int) -> str:
    if told > 1:
        return "Stopping now: the worker releases its unfinished jobs."
    if ended:
        return f"Stopping, because these processes ended: {', '.join(ended)}."
    return "Waiting for the worker's running jobs; press Ctrl-C again to stop now."


def tell_to_stop(children: dict[str, Child]) -> None:
    for child in children.values():
        # The whole group, even if its leader is dead: runserver has a child of its own.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGTERM)


def stop_database() -> None:
    """Stop the embedded database last: a draining worker still writes to it."""
    stopped = [Server(Path(folder)).stop() for folder in database_folders()]
    if any(stopped):
        say("Stopped, the database too: nothing is left running.")
    else:
        say("Stopped: nothing is left running.")


def database_folders() -> list[str]:
    """The folder of the embedded database, if it is in use."""
    folder = settings.DATABASES["default"].get("FOLDER")
    return [folder] if folder else []


def say(words: str) -> None:
    with suppress(OSError):  # a closed terminal must not prevent the stop
        print(words, flush=True)
