"""Databases that a test can break, for real worker processes."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from django.db import connection, connections

from config.embedded.server import NAME, PORT, USER, Server
from tests.jobs.conftest import elsewhere
from tests.jobs.forked import ROOT
from tests.jobs.processes import environment, wait_until


def a_session_waits():
    """Whether a session of this test's own PostgreSQL database waits for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # kept until the transaction ends
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock')"
        )
        return cursor.fetchone()[0]


@contextmanager
def locked(table):
    """A table that another session has locked, as some migrations do."""

    def lock():
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")

    with elsewhere(lock):
        yield


@contextmanager
def without_table(model):
    """A model whose table is not there, as before its migration."""
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO moved_away")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE moved_away RENAME TO {table}")


@pytest.fixture
def cluster(transactional_db):
    """A durable PostgreSQL for this test alone, which this process uses as its database.

    Request it before `start`, so that it ends after the workers.
    """
    folder = Path(tempfile.mkdtemp(prefix="tabie-"))
    folder.chmod(0o755)
    server = Server(folder / "pg", durable=True)
    usual = connections["default"]
    try:
        server.start()
        own = {"HOST": str(server.sockets), "PORT": PORT, "USER": USER, "NAME": NAME}
        connections["default"] = type(usual)(usual.settings_dict | own, "default")
        migrate()
        yield server
    finally:
        connections["default"].close()
        connections["default"] = usual
        server.stop()
        shutil.rmtree(folder)


def migrate():
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--run-syncdb", "--verbosity=0"],
        cwd=ROOT,
        env=os.environ | environment(),
        check=True,
    )


def crash(server):
    """End a PostgreSQL as `pg_ctl stop -m immediate` does."""
    os.kill(server.pid(), signal.SIGQUIT)
    wait_until(lambda: server.pid() is None)
    connection.close()


class Proxy:
    """A TCP proxy to PostgreSQL that can go silent without closing a connection."""

    def __init__(self):
        self.is_silent = False
        self.sockets = []
        self.door = socket.create_server(("127.0.0.1", 0))
        self.sockets.append(self.door)
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def url(self):
        port = self.door.getsockname()[1]
        return f"postgresql://127.0.0.1:{port}/{connection.settings_dict['NAME']}"

    def accept(self):
        to = connections.settings["default"]
        with suppress(OSError):
            while True:
                client, _ = self.door.accept()
                if to["HOST"].startswith("/"):
                    server = socket.socket(socket.AF_UNIX)
                    server.connect(f"{to['HOST']}/.s.PGSQL.{to['PORT'] or 5432}")
                else:
                    server = socket.create_connection((to["HOST"], to["PORT"] or 5432))
                self.sockets += [client, server]
                for pair in [(client, server), (server, client)]:
                    threading.Thread(target=self.pass_on, args=pair, daemon=True).start()

    def pass_on(self, source, target):
        with suppress(OSError):
            while data := source.recv(65536):
                if self.is_silent:
                    return
                target.sendall(data)
            if not self.is_silent:
                target.shutdown(socket.SHUT_RDWR)

    def close(self):
        for each in self.sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@pytest.fixture
def proxy(transactional_db):
    proxy = Proxy()
    yield proxy
    proxy.close()
