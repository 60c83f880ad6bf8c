"""What a worker shows to those who watch it from outside: a file's age, and words for systemd."""

import os
import socket
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from jobs.management.commands.runworker import chosen_file, refuse_impatient_watchdog
from jobs.worker import alive
from jobs.worker.alive import SignsOfLife
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.jobs import processes
from tests.jobs.processes import SHORT, wait_until
from tests.jobs.running import running
from tests.testapp.models import Chore

start = processes.start


@pytest.fixture(params=["file", "abstract"])
def systemd(request, tmp_path, monkeypatch):
    """The socket at which systemd would listen."""
    address = f"\0tabie {os.getpid()}" if request.param == "abstract" else str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", address.replace("\0", "@"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(address)
        listener.settimeout(60)
        yield listener


def hear(listener, word):
    """Wait until this word comes; other words may come first."""
    while (heard := listener.recv(1000).decode()) != word:
        assert heard in {"READY=1", "WATCHDOG=1", "STOPPING=1"}


def age(file):
    """Make the file look very old."""
    os.utime(file, (0, 0))


def is_fresh(file):
    return file.stat().st_mtime > 0


@pytest.mark.django_db(transaction=True)
def test_systemd_hears_that_a_worker_is_ready_lives_and_stops(systemd):
    with running(Loop([Chore], Options())):
        words = {systemd.recv(100), systemd.recv(100)}  # of two threads, in any order
    hear(systemd, "STOPPING=1")

    assert words == {b"READY=1", b"WATCHDOG=1"}


@pytest.mark.parametrize("systemd", ["file"], indirect=True)
def test_a_guest_of_a_web_server_says_nothing_to_systemd(systemd):
    guest = SignsOfLife(is_guest=True)

    for say in (guest.begin, guest.give, guest.stop, guest.end):
        say()

    systemd.setblocking(False)
    with pytest.raises(BlockingIOError):
        systemd.recv(100)


@pytest.mark.django_db(transaction=True)
def test_a_beat_touches_the_file_and_a_clean_stop_deletes_it(tmp_path):
    file = tmp_path / "alive"

    with running(Loop([Chore], Options(alive_file=file))):
        wait_until(file.exists)

    assert not file.exists()


def test_a_worker_without_a_database_lives(start, tmp_path):
    """No restart brings the database back: the file of a worker that waits for it stays fresh."""
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    file = tmp_path / "alive"
    worker = start(f"--alive-file={file}", url=f"postgresql://127.0.0.1:{port}/none", lease=SHORT)
    wait_until(lambda: "The database can't be used" in worker.log)

    age(file)
    wait_until(lambda: is_fresh(file))

    worker.terminate()
    assert worker.exit_code() == 0
    assert not file.exists()


def test_a_worker_with_nothing_to_give_back_says_too_that_it_stops(systemd):
    SignsOfLife().end()

    hear(systemd, "STOPPING=1")


def test_a_file_that_can_no_longer_be_written_is_told_once(tmp_path, caplog):
    signs = SignsOfLife(tmp_path / "gone" / "alive")

    signs.give()
    signs.give()
    signs.end()

    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.mark.parametrize("address", [None, "", "vsock:1:2", "/nowhere/notify", "@nobody listens"])
def test_without_systemd_nothing_happens(monkeypatch, address):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    if address is not None:
        monkeypatch.setenv("NOTIFY_SOCKET", address)

    alive.notify("READY=1")


def test_a_systemd_that_does_not_read_holds_no_worker_up(systemd):
    for _ in range(2000):  # more than its socket holds
        alive.notify("WATCHDOG=1")


# Refused at start


def test_the_file_of_a_worker_that_was_killed_is_taken_over(tmp_path):
    file = tmp_path / "alive"
    file.touch()
    age(file)

    assert chosen_file(str(file)) == file
    assert is_fresh(file)
    assert chosen_file(None) is None


@pytest.mark.parametrize("path", ["missing/alive", ".", "", "precious", "precious/alive"])
def test_a_file_that_cant_be_used_is_refused(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    Path("precious").write_text("not ours")

    with pytest.raises(CommandError, match=f"^--alive-file {path}: it "):
        chosen_file(path)

    assert Path("precious").read_text() == "not ours"


@pytest.mark.parametrize("seconds", ["10", "119"])
def test_a_watchdog_that_would_end_a_healthy_worker_is_refused(monkeypatch, seconds):
    monkeypatch.setenv("WATCHDOG_USEC", f"{seconds}000000")

    with pytest.raises(CommandError, match=f"^WatchdogSec={seconds}: .* at least 120, twice"):
        refuse_impatient_watchdog(lease=60)


@pytest.mark.parametrize(
    ("microseconds", "pid"), [("120000000", None), ("1000", "1"), ("", None), ("soon", None)]
)
def test_other_watchdogs_are_fine(monkeypatch, microseconds, pid):
    monkeypatch.setenv("WATCHDOG_USEC", microseconds)
    if pid:
        monkeypatch.setenv("WATCHDOG_PID", pid)

    refuse_impatient_watchdog(lease=60)
