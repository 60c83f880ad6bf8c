"""The PostgreSQL of one benchmark: durable as in production, removed afterwards."""

import fcntl
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bench.environments import HOME, RUN
from config.embedded.server import Server


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a new PostgreSQL with durable defaults, for this run alone."""
    HOME.mkdir(exist_ok=True)
    server = Server(RUN)
    with (HOME / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("Another benchmark is running; each would spoil the other's figures.")
        remove(server)  # if the last run was killed
        try:
            server.start()
            yield server
        finally:
            remove(server)


def remove(server: Server) -> None:
    server.stop()
    shutil.rmtree(server.folder, ignore_errors=True)
