"""python -m config.dev: the database, the web server and a worker, until Ctrl-C."""

import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import django
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connections

from config.embedded.server import Server

COMMANDS = [["runserver", "127.0.0.1:8000"], ["runworker"]]


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    try:
        call_command("migrate", verbosity=0)
        ensure_admin()
        connections.close_all()
        return supervise(COMMANDS)
    finally:
        stop_database()


def ensure_admin() -> None:
    users = get_user_model().objects
    if not users.filter(is_superuser=True).exists():
        password = secrets.token_urlsafe(12)
        users.create_superuser("admin", password=password)
        print(f"Admin login, shown only this once: admin / {password}", flush=True)


def supervise(commands: list[list[str]]) -> int:
    """Run commands until one ends or a signal comes, then end all of them and wait.

    A second signal is passed on as well: it tells a draining worker to hurry.
    """
    asked: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: asked.append(number))
    children = [start(command) for command in commands]
    told = 0
    while None in (codes := [child.poll() for child in children]):
        one_ended = any(code is not None for code in codes)
        if told < len(asked) or (one_ended and not told):
            told += 1
            tell_to_stop(children)
        time.sleep(0.1)
    return 0 if asked else 1


def start(command: list[str]) -> "subprocess.Popen[bytes]":
    # A session of its own: the terminal's Ctrl-C reaches it once, through us, as a SIGTERM.
    return subprocess.Popen([sys.executable, "manage.py", *command], start_new_session=True)


def tell_to_stop(children: "list[subprocess.Popen[bytes]]") -> None:
    for child in children:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGTERM)  # the group: runserver has a child as well


def stop_database() -> None:
    """Stop the embedded database last: a draining worker still writes to it."""
    if folder := settings.DATABASES["default"].get("FOLDER"):
        Server(Path(folder)).stop()


if __name__ == "__main__":
    sys.exit(main())
