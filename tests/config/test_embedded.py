import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from django.db import OperationalError
from django.db.utils import ConnectionHandler

from config.embedded.server import NAME, PORT, USER, Server, ServerError, binaries, database
from tests.config.servers import NOBODY, ROOT, START, as_root, ask

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not binaries(), reason="no PostgreSQL for this platform"),
]


@pytest.fixture
def connect(django_db_blocker):
    """Connect as Django does, with the engine."""
    opened = []

    def connect(server, **options):
        entry = database(server.folder, server.durable)
        entry |= {"CONN_HEALTH_CHECKS": True, "OPTIONS": options}
        connection = ConnectionHandler({"default": {}, "embedded": entry})["embedded"]
        opened.append(connection)
        connection.ensure_connection()
        return connection

    with django_db_blocker.unblock():
        yield connect
        for connection in opened:
            connection.close()
            connection.close_pool()


def start_elsewhere(server, before=""):
    return subprocess.Popen(
        [sys.executable, "-c", before + START, server.folder],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def starts(server):
    return server.log.read_text().count("database system is ready to accept connections")


def wait_for(condition):
    give_up = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.005)


def test_the_first_connection_starts_the_server(server, connect):
    with connect(server).cursor() as cursor:
        cursor.execute("SELECT current_database()")

        assert cursor.fetchone() == (NAME,)
    assert server.is_running()


def test_a_connection_pool_starts_the_server(server, connect):
    with connect(server, pool={"min_size": 1}).cursor() as cursor:
        cursor.execute("SELECT 1")

        assert cursor.fetchone() == (1,)


def test_a_connection_pool_starts_a_killed_server_again(server, connect):
    never = 3600  # seconds that a pool waits for a missing server
    connection = connect(server, pool={"min_size": 0, "max_size": 2, "timeout": never})
    connection.close()
    os.kill(server.pid(), signal.SIGKILL)
    wait_for(lambda: server.pid() is None)

    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")

        assert cursor.fetchone() == (1,)


def test_the_commands_of_a_fresh_checkout_start_the_server_only_to_connect(python, checkout):
    folder = checkout / ".postgres"

    assert python("manage.py", "check", DEBUG="true").returncode == 0
    assert not folder.exists()

    assert python("manage.py", "showmigrations", "auth", DEBUG="true").returncode == 0
    assert Server(folder).is_running()


def test_stop_ends_the_server_and_a_second_stop_finds_nothing(server):
    server.start()

    assert server.stop()
    assert not server.is_running()
    assert not server.stop()


def test_stop_and_status_speak_for_the_command_line(server):
    def command(action):
        return subprocess.check_output(
            [sys.executable, "-m", "config.embedded", action, server.folder], cwd=ROOT, text=True
        )

    server.start()

    assert f"running as process {server.pid()}" in command("status")
    assert command("stop").endswith(": stopped\n")
    assert command("status").endswith(": not running\n")


def test_four_processes_starting_at_once_end_with_one_server(server):
    starters = [start_elsewhere(server) for _ in range(4)]
    pids = {starter.communicate(timeout=60)[0] for starter in starters}

    assert pids == {f"{server.pid()}\n"}
    assert starts(server) == 1


def test_what_was_committed_outlives_kill_9_of_the_server(tmp):
    server = Server(tmp / "pg")
    server.start()
    with psycopg.connect(host=str(server.sockets), port=PORT, user=USER, dbname=NAME) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    os.kill(server.pid(), signal.SIGKILL)

    server.start()

    assert ask(server, "SELECT answer FROM kept") == 42


def test_a_stale_process_number_that_another_program_got_is_no_server(server):
    server.start()
    server.stop()
    with subprocess.Popen(["sleep", "60"]) as other:
        (server.data / "postmaster.pid").write_text(f"{other.pid}\n{server.data}\n")

        server.start()

        assert ask(server, "SELECT 1") == 1
        assert other.poll() is None
        other.kill()


def test_a_copied_folder_does_not_stop_the_server_of_the_original(server, tmp):
    server.start()
    copy = Server(tmp / "copy")
    shutil.copytree(server.folder, copy.folder, ignore=shutil.ignore_patterns("run"))

    assert not copy.stop()
    assert server.is_running()


# A starter that dies while initdb works. initdb goes on without it.
DYING = """
import os, signal, subprocess, time
real = subprocess.run
def run(command, check, **options):
    if not [part for part in command if part.endswith("initdb")]:
        return real(command, check=check, **options)
    subprocess.Popen(command, **options)
    while not os.path.exists(f"{options['cwd']}/18.half/PG_VERSION"):
        time.sleep(0.005)
    os.kill(os.getpid(), signal.SIGKILL)
subprocess.run = run
"""


def test_initdb_killed_half_way_leaves_nothing_in_the_way(server):
    starter = start_elsewhere(server, before=DYING)
    starter.communicate(timeout=60)
    assert starter.returncode == -signal.SIGKILL
    assert (server.folder / "18.half").exists()

    server.start()

    assert ask(server, "SELECT 1") == 1
    assert not (server.folder / "18.half").exists()


@pytest.mark.parametrize(
    "name",
    ["x" * 120, "with 'two' \"kinds\" of $quotes", "旅絵, a comma"],
    ids=["long", "quotes", "unicode"],
)
def test_it_works_in_a_folder_with_an_inconvenient_name(tmp, name):
    server = Server(tmp / name / "pg", durable=False)
    server.start()

    assert ask(server, "SELECT 1") == 1
    assert server.sockets.parent == Path("/tmp")

    server.stop()
    assert not server.sockets.exists()


def test_folders_are_private_and_nothing_listens_on_the_network(server):
    server.start()

    for folder in [server.folder, server.data, server.sockets]:
        assert folder.stat().st_mode & 0o777 == 0o700
    assert ask(server, "SHOW listen_addresses") == ""


@pytest.mark.parametrize("durable", [True, False])
def test_only_a_test_cluster_gives_up_durability(tmp, durable):
    server = Server(tmp / "pg", durable)
    server.start()

    for name in ["fsync", "synchronous_commit", "full_page_writes"]:
        assert ask(server, f"SHOW {name}") == ("on" if durable else "off")


def link(path):
    path.symlink_to(path.parent)


def file(path):
    path.touch(0o700)


def open_to_all(path):
    path.mkdir()
    path.chmod(0o777)


def anothers(path):
    path.mkdir(0o700)
    os.chown(path, NOBODY, NOBODY)


@pytest.mark.parametrize("put", [link, file, open_to_all, pytest.param(anothers, marks=as_root)])
def test_a_socket_folder_that_somebody_else_may_have_made_is_refused(server, connect, put):
    server.folder.mkdir()
    put(server.sockets)

    with pytest.raises(OperationalError, match="can't be trusted"):
        connect(server)


def test_a_failed_start_shows_the_log_and_what_to_do(server, monkeypatch):
    monkeypatch.setattr("config.embedded.server.START_PATIENCE", 0)
    server.start()
    server.stop()
    (server.data / "postgresql.conf").write_text("no_such_setting = 1\n")

    with pytest.raises(ServerError, match=r"(?s)did not start.*no_such_setting.*make stop"):
        server.start()
