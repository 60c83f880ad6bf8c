"""Patroni with etcd: two PostgreSQL servers that choose their primary by themselves."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest

from config.embedded.account import identity
from config.embedded.server import NAME, USER, binaries
from tests.jobs.databases import fill, using
from tests.jobs.pair import Pair
from tests.jobs.processes import wait_until

PATRONI = os.environ.get("PATRONI", "")
ETCD = shutil.which("etcd")


class Cluster(Pair):
    """A pair of which Patroni chooses the primary."""

    def __init__(self, folder):
        super().__init__(folder)
        self.folder = folder
        self.etcd = f"127.0.0.1:{free_port()}"
        self.started = {}  # name -> process

    def start(self):
        (self.folder / "etcd").mkdir(mode=0o700)
        client, peer = f"http://{self.etcd}", f"http://127.0.0.1:{free_port()}"
        self.launch(
            "etcd",
            *[
                ETCD,
                "--data-dir",
                str(self.folder / "etcd"),
                "--initial-cluster",
                f"default={peer}",
            ],
            *["--listen-client-urls", client, "--advertise-client-urls", client],
            *["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer],
        )
        for node in self.nodes:
            node.sockets.mkdir(mode=0o700, parents=True)
            self.follow(node)
            wait_until(self.find_primary)
        wait_until(lambda: self.primary.ask(SYNCHRONOUS, dbname="postgres"))
        self.primary.ask(f"CREATE DATABASE {NAME}", dbname="postgres")

    def follow(self, node):
        """Let Patroni run this server, as the primary or as its standby."""
        file = node.folder / "patroni.yml"
        file.write_text(json.dumps(self.settings_of(node)))  # JSON is YAML
        self.launch(node.folder.name, PATRONI, str(file))

    def settings_of(self, node):
        trusted = [f"{how} trust" for how in HOW_TO_CONNECT]
        address = f"{node.address}:5432"
        return {
            "scope": "tabie",
            "name": node.folder.name,
            "restapi": {
                "listen": f"{node.address}:8008",
                "connect_address": f"{node.address}:8008",
            },
            "etcd3": {"host": self.etcd},
            "bootstrap": {
                "dcs": {
                    "ttl": 20,
                    "loop_wait": 5,
                    "retry_timeout": 5,
                    "synchronous_mode": True,
                    "postgresql": {"use_pg_rewind": False},
                },
                "initdb": ["no-sync", {"encoding": "UTF8"}, {"locale": "C"}],
            },
            "postgresql": {
                "listen": address,
                "connect_address": address,
                "data_dir": str(node.data),
                "bin_dir": str(binaries()),
                "pg_hba": trusted,
                "remove_data_directory_on_diverged_timelines": True,
                "parameters": {"unix_socket_directories": str(node.sockets), "fsync": "off"},
                "authentication": {
                    "superuser": {"username": USER},
                    "replication": {"username": "follower"},
                },
            },
        }

    def launch(self, name, *command):
        prefix, user = identity(self.folder)
        with (self.folder / f"{name}.log").open("a") as log:
            self.started[name] = subprocess.Popen(
                [*prefix, *command], stdout=log, stderr=log, cwd=self.folder, **user
            )

    def find_primary(self):
        for node in self.nodes:
            try:
                if not node.ask("SELECT pg_is_in_recovery()", dbname="postgres"):
                    self.primary = node
                    [self.standby] = [other for other in self.nodes if other is not node]
                    return True
            except psycopg.OperationalError:
                continue
        return False

    def lose_primary(self):
        """Kill the primary and its Patroni, as if their machine were gone."""
        lost = self.primary
        self.end(lost.folder.name)
        os.kill(lost.pid(), signal.SIGKILL)
        wait_until(lambda: self.find_primary() and self.primary is not lost)

    def end(self, name):
        process = self.started.pop(name)
        process.kill()
        process.wait()

    def stop(self):
        for name in list(self.started):
            self.end(name)
        for node in self.nodes:
            node.kill()


HOW_TO_CONNECT = [
    "local all all",
    "local replication all",
    "host all all 127.0.0.0/8",
    "host replication all 127.0.0.0/8",
]
SYNCHRONOUS = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@pytest.fixture
def cluster(transactional_db):
    """Request it before `start`, so that it ends after the workers."""
    if not PATRONI:
        pytest.skip(
            "PATRONI is not set: the program of an environment with patroni[etcd3,psycopg3]."
        )
    if ETCD is None:
        pytest.skip("etcd is not installed (apt-get install etcd-server).")
    folder = Path(tempfile.mkdtemp(prefix="tabie-"))
    folder.chmod(0o755)
    cluster = Cluster(folder)
    try:
        cluster.start()
        fill(cluster.primary)
        with using(cluster.url):
            yield cluster
    finally:
        cluster.stop()
        for log in folder.glob("*.log"):
            print(f"--- {log.name}\n{log.read_text()[-5000:]}")
        shutil.rmtree(folder)
