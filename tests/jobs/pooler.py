"""PgBouncer in transaction mode, in front of this test's own PostgreSQL database."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from config.embedded.account import identity
from tests.jobs.processes import wait_until

PROGRAM = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")
SERVER_SESSIONS = 3  # fewer than one worker's connections, so that all of them are shared

CONFIGURATION = """
[databases]
{NAME} = host={HOST} port={PORT} user={USER} {password}

[pgbouncer]
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 200
listen_addr =
listen_port = {PORT}
unix_socket_dir = {folder}
auth_type = any
"""


class Pooler:
    def __init__(self, folder):
        self.folder = folder
        to = connection.settings_dict
        self.facts = {**to, "PORT": to["PORT"] or 5432, "folder": folder}
        self.url = f"postgresql:///{folder}/{to['NAME']}"

    def start(self):
        password = self.facts["PASSWORD"]
        file = self.folder / "pgbouncer.ini"
        file.write_text(
            CONFIGURATION.format(
                **self.facts,
                sessions=SERVER_SESSIONS,
                password=f"password={password}" if password else "",
            )
        )
        prefix, user = identity(self.folder)  # like PostgreSQL, it refuses to run as root
        with (self.folder / "log").open("w") as log:
            self.process = subprocess.Popen([*prefix, PROGRAM, str(file)], stderr=log, **user)
        socket = self.folder / f".s.PGSQL.{self.facts['PORT']}"
        wait_until(lambda: socket.exists() or self.process.poll() is not None)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        print(f"--- PgBouncer\n{(self.folder / 'log').read_text()}")

    def connect(self):
        to = self.facts
        return psycopg.connect(
            host=str(self.folder), port=to["PORT"], dbname=to["NAME"], user=to["USER"]
        )


@pytest.fixture
def pooler(transactional_db):
    """Request it before `start`, so that it ends after the workers."""
    if PROGRAM is None:
        pytest.skip("PgBouncer is not installed (apt-get install pgbouncer).")
    folder = Path(tempfile.mkdtemp(prefix="tabie-"))
    folder.chmod(0o755)
    pooler = Pooler(folder)
    try:
        pooler.start()
        yield pooler
        pooler.stop()
    finally:
        shutil.rmtree(folder)
