"""Two PostgreSQL servers, one of which follows the other until it takes its place."""

import os
import random
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from config.embedded.server import NAME, PORT, USER, Server
from tests.jobs.databases import fill, using
from tests.jobs.processes import wait_until


@dataclass(frozen=True)
class Node(Server):
    """A server with an address of its own, so that all can have the same port."""

    address: str = ""

    def _options(self):
        settings = {
            "listen_addresses": self.address,
            "synchronous_commit": "on",
            "wal_retrieve_retry_interval": "100ms",
        }
        more = " ".join(f"-c {name}={value}" for name, value in settings.items())
        return f"{super()._options()} {more}"

    def copy(self, primary):
        """Become a standby: a copy of the primary that follows it."""
        shutil.rmtree(self.data, ignore_errors=True)
        with self._lock():
            self._make_sockets()
            self._must(
                *["pg_basebackup", "-D", self.data.name, "-R", "--checkpoint=fast", "--no-sync"],
                *["-h", str(primary.sockets), "-p", PORT, "-U", USER],
            )
            self._launch()

    def promote(self):
        self._must("pg_ctl", "promote", "-w", "-s", "-D", self.data.name)

    def _must(self, *command):
        done = self._run(*command)
        assert done.returncode == 0, done.stdout

    def kill(self):
        """End all of its processes at once: it sends nothing more to the standby."""
        if pid := self.pid():
            os.kill(pid, signal.SIGQUIT)
            wait_until(lambda: self.pid() is None)

    def ask(self, question, dbname=NAME):
        where = {"host": str(self.sockets), "port": PORT, "user": USER, "dbname": dbname}
        with psycopg.connect(**where, autocommit=True) as session:
            answer = session.execute(question)
            return answer.fetchone()[0] if answer.description else None

    def set(self, name, value):
        self.ask(f"ALTER SYSTEM SET {name} = '{value}'")


class Pair:
    """A primary and its standby; after a failover they have changed places."""

    def __init__(self, folder):
        net = f"127.{random.randint(1, 254)}.{random.randint(0, 254)}"
        self.nodes = [
            Node(folder / name, durable=False, address=f"{net}.{number}")
            for number, name in enumerate("ab", start=1)
        ]
        self.primary, self.standby = self.nodes

    @property
    def url(self):
        """DATABASE_URL of a site with two database servers."""
        hosts = ",".join(node.address for node in self.nodes)
        return f"postgresql://{USER}@{hosts}/{NAME}?target_session_attrs=read-write"

    def start(self, *, synchronous):
        """Add the standby. If it is synchronous, neither of the two commits without the other."""
        if synchronous:
            self.primary.set("synchronous_standby_names", "*")  # copied, and so for both
        self.standby.copy(self.primary)
        self.primary.ask("SELECT pg_reload_conf()")
        self.catch_up()

    def catch_up(self):
        """Wait until the standby has all that the primary has."""
        wait_until(
            lambda: self.primary.ask(
                "SELECT count(*) FROM pg_stat_replication WHERE flush_lsn = pg_current_wal_lsn()"
            )
        )

    def cut(self):
        """Let the standby receive nothing more: what is committed from now on can get lost."""
        self.standby.set("primary_conninfo", "")
        self.standby.ask("SELECT pg_reload_conf()")
        wait_until(lambda: not self.primary.ask("SELECT count(*) FROM pg_stat_replication"))

    def fail_over(self):
        self.primary.kill()
        self.standby.promote()
        connection.close()
        self.primary, self.standby = self.standby, self.primary

    def rejoin(self):
        """Let the old primary follow the new one."""
        self.standby.copy(self.primary)
        self.catch_up()


@pytest.fixture
def pair(transactional_db):
    """A pair for this test alone, which this process uses as its database; not started yet.

    Request it before `start`, so that it ends after the workers.
    """
    if sys.platform != "linux":
        pytest.skip("Only on Linux is every address in 127.0.0.0/8 this machine.")
    folder = Path(tempfile.mkdtemp(prefix="tabie-"))
    folder.chmod(0o755)
    pair = Pair(folder)
    try:
        pair.primary.start()
        fill(pair.primary)
        with using(pair.url):
            yield pair
    finally:
        for node in pair.nodes:
            node.kill()
        shutil.rmtree(folder)
