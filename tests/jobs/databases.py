"""Databases that a test can break, for real worker processes."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection, connections
from django.db.utils import load_backend

from config import database_url
from config.databases import tune
from config.embedded.server import NAME, PORT, USER, Server, binaries
from jobs.db.sessions import Patience
from tests.jobs.conftest import elsewhere
from tests.jobs.processes import wait_until


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
        fill(server)
        connections["default"] = type(usual)(usual.settings_dict | own, "default")
        yield server
    finally:
        connections["default"].close()
        connections["default"] = usual
        server.stop()
        shutil.rmtree(folder)


@contextmanager
def using(url):
    """Let this process use the database at an address that an operator could set."""
    usual = connections["default"]
    nowhere = {"HOST": "", "PORT": "", "PASSWORD": "", "OPTIONS": {}}
    settings = usual.settings_dict | nowhere | tune(database_url.read(url, "DATABASE_URL"))
    connections["default"] = load_backend(settings["ENGINE"]).DatabaseWrapper(settings, "default")
    try:
        yield
    finally:
        connections["default"].close()
        connections["default"] = usual


def fill(server):
    """Copy this test's own database into a new server: faster than migrating."""
    own = connection.settings_dict
    source = {
        "PGHOST": own["HOST"],
        "PGPORT": str(own["PORT"]),
        "PGUSER": own["USER"],
        "PGPASSWORD": own["PASSWORD"],
    }
    target = {"PGHOST": str(server.sockets), "PGPORT": PORT, "PGUSER": USER}
    dump = run_program(source, "pg_dump", own["NAME"])
    run_program(target, "psql", "-q", "-v", "ON_ERROR_STOP=1", "-o", "/dev/null", NAME, input=dump)


def run_program(environment, program, *arguments, **options):
    known = {name: value for name, value in environment.items() if value}
    command = [binaries() / program, *arguments]
    done = subprocess.run(
        command, env=os.environ | known, check=True, capture_output=True, **options
    )
    return done.stdout


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


SHORT = Patience(locks=timedelta(milliseconds=200))
