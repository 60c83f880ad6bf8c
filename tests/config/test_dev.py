import fcntl
import os
import re
import signal
import socket

import pytest

from config.embedded.server import Server, binaries
from tests.config.families import alive, children_of
from tests.jobs.processes import wait_until

# Stands in for manage.py: commands drain on SIGTERM, `wait` on the second; `crash` ends when the
# test says so.
MANAGE = """
import os, signal, sys, time

def drain(number, frame):
    print("told to stop", flush=True)
    if "wait" in sys.argv:
        sys.argv.remove("wait")
        return
    time.sleep(0.5)
    print("drained", end="")
    sys.exit()

signal.signal(signal.SIGTERM, drain)
print("started", *sys.argv[1:])
if "crash" in sys.argv:
    while not os.path.exists("crash now"):
        time.sleep(0.01)
    sys.exit(3)
time.sleep(300)
"""

LISTEN = """
import socket, time
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
time.sleep(300)
"""

SUPERVISE = """
import django, sys
django.setup()
from config.dev import guarded, supervise
with guarded() as guard:
    code = supervise({}, guard)
sys.exit(code)
"""

needs_postgres = pytest.mark.skipif(
    not binaries(), reason="the embedded PostgreSQL is not installed"
)


@pytest.fixture
def supervise(checkout, start):
    (checkout / "manage.py").write_text(MANAGE)

    def supervise(**commands):
        supervisor = start("-c", SUPERVISE.format(commands))
        lines = sorted(supervisor.stdout.readline() for _ in commands)
        assert all("started" in line for line in lines)
        return supervisor, lines

    return supervise


@pytest.mark.long
def test_every_line_says_whose_it_is(supervise):
    supervisor, lines = supervise(web=["runserver"], worker=["runworker"])

    supervisor.terminate()
    output, _ = supervisor.communicate(timeout=90)

    assert lines == ["web    | started runserver\n", "worker | started runworker\n"]
    assert output.splitlines()[0].startswith("Waiting ")
    assert sorted(output.splitlines()[1:]) == sorted(
        [
            *("web    | told to stop", "web    | drained"),
            *("worker | told to stop", "worker | drained"),
        ]
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_reaches_every_command_once_and_all_may_drain(supervise, number):
    supervisor, _ = supervise(web=["runserver"], worker=["runworker"])

    supervisor.send_signal(number)
    output, _ = supervisor.communicate(timeout=90)

    assert output.count("told to stop") == output.count("drained") == 2
    assert supervisor.returncode == 0


@pytest.mark.long
def test_when_one_command_ends_the_others_end_too(supervise, checkout):
    supervisor, _ = supervise(web=["runserver"], worker=["crash"])

    (checkout / "crash now").touch()
    output, _ = supervisor.communicate(timeout=90)

    assert "these processes ended: worker" in output
    assert output.count("drained") == 1
    assert supervisor.returncode == 1


@pytest.mark.long
def test_a_second_signal_is_passed_on(supervise):
    supervisor, _ = supervise(worker=["wait"])
    supervisor.send_signal(signal.SIGTERM)
    while "told to stop" not in supervisor.stdout.readline():
        pass

    supervisor.send_signal(signal.SIGTERM)
    output, _ = supervisor.communicate(timeout=90)

    assert "told to stop" in output


@pytest.mark.long
def test_commands_are_stopped_though_nobody_reads_any_more(supervise):
    supervisor, _ = supervise(web=["runserver"], worker=["runworker"])
    children = children_of(supervisor.pid)
    supervisor.stdout.close()  # as when the terminal was closed

    supervisor.send_signal(signal.SIGHUP)
    supervisor.wait(timeout=90)

    assert len(children) == 3  # one is the guard
    assert not [pid for pid in children if alive(pid)]


@needs_postgres
def test_when_the_supervisor_is_killed_everything_else_ends(supervise, checkout):
    database = Server(checkout / ".postgres", durable=False)
    database.start()
    supervisor, _ = supervise(web=["runserver"], worker=["runworker"])
    children = children_of(supervisor.pid)

    supervisor.kill()
    output = supervisor.stdout.read()  # ends with the last of them

    assert output == "Tabie was killed. Its processes are stopped, the database too.\n"
    assert len(children) == 3  # one is the guard
    wait_until(lambda: not [pid for pid in children if alive(pid)])  # the pipe closes a bit earlier
    assert not database.is_running()


def test_make_stop_ends_what_runs_from_this_folder_and_nothing_else(supervise, start, tmp_path):
    supervisor, _ = supervise(web=["runserver"], worker=["runworker"])
    (tmp_path / "manage.py").write_text(MANAGE)
    elsewhere = start("manage.py", "runworker", cwd=tmp_path, PYTHONUNBUFFERED="1")
    editor = start("-c", "import time; print(flush=True); time.sleep(300)", "manage.py", "dev")
    for process in (elsewhere, editor):
        process.stdout.readline()

    stopped, _ = start("-m", "config.processes").communicate(timeout=90)

    each = r"run\w+ \(process \d+\): stopped\n"
    assert re.fullmatch(rf"Stopping\. .*\n{each}{each}", stopped)
    assert supervisor.wait(timeout=90) == 1
    assert elsewhere.poll() is editor.poll() is None


@pytest.mark.long
def test_the_process_at_a_taken_port_is_named(python, start, checkout):
    (checkout / "manage.py").rename(checkout / "real.py")
    (checkout / "manage.py").write_text(LISTEN)
    orphan = start("manage.py", "runserver")
    port = orphan.stdout.readline().strip()

    refused = python("real.py", "dev", DEBUG="true", PORT=port)

    assert f"It is process {orphan.pid} (" in refused.stderr
    assert refused.stderr.endswith("manage.py runserver): `make stop` ends it.\n")


@pytest.mark.long
def test_a_taken_port_is_named_before_anything_is_started(python, checkout):
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = server.getsockname()[1]
        refused = python("manage.py", "dev", DEBUG="true", PORT=str(taken))

    assert refused.returncode == 1
    assert f"Port {taken} is taken: stop what listens there, or set PORT={taken + 1}." in (
        refused.stderr
    )
    assert not (checkout / ".postgres").exists()


def test_a_second_instance_is_refused_before_anything_is_started(python, checkout, port):
    folder = os.open(checkout, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    refused = python("manage.py", "dev", DEBUG="true", PORT=str(port))
    os.close(folder)

    assert refused.returncode == 1
    assert f"Tabie runs from {checkout.resolve()} already" in refused.stderr
    assert not (checkout / ".postgres").exists()


@pytest.mark.long
@pytest.mark.parametrize("port", ["0", "65536", "http", "８０００"])
def test_what_is_no_port_is_refused(python, port):
    refused = python("manage.py", "dev", DEBUG="true", PORT=port)

    assert refused.returncode == 1
    assert f"PORT={port}: it must be a number" in refused.stderr


@pytest.mark.long
def test_it_makes_no_admin_on_a_server(python):
    refused = python(
        *("manage.py", "dev"),
        SECRET_KEY="a-long-random-text-known-to-nobody-0123456789-abcdefghijkl",
        ALLOWED_HOSTS="example.org",
        DATABASE_URL="postgresql://tabie@localhost/tabie",
    )

    assert refused.returncode == 1
    assert "This is for development" in refused.stderr
