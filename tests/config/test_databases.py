"""Several databases in one checkout: every command finds its own, and no other is touched."""

import fcntl
import os
import socket
from contextlib import contextmanager

import pytest


@pytest.fixture
def named(checkout):
    """The variables of a checkout with two databases."""
    urls = {name: f"sqlite:///{checkout}/{name}.db" for name in ("tokyo", "osaka")}
    lines = [f"DATABASES_{name.upper()}_URL={url}" for name, url in urls.items()]
    (checkout / ".env").write_text("\n".join(["DEBUG=true", *lines, ""]))
    return checkout


@pytest.mark.long
def test_a_database_is_migrated_worked_on_and_asked_by_its_name(quick_python, named):
    migrated = quick_python("manage.py", "migrate", "--database", "tokyo")
    worked = quick_python("manage.py", "runworker", "--drain", "--database", "tokyo")
    asked = quick_python("manage.py", "jobs", "--database", "tokyo", "status")
    again = quick_python("manage.py", "migrate", "--database", "default", DATABASE="tokyo")

    assert (migrated.returncode, worked.returncode) == (0, 0), migrated.stderr + worked.stderr
    assert "started on tokyo: 8 slots" in worked.stderr
    assert asked.stdout.startswith("database: tokyo\n")
    assert "No migrations to apply." in again.stdout
    assert not (named / "osaka.db").exists()
    assert not (named / ".postgres").exists()


@contextmanager
def locked(folder):
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(handle)


def test_a_database_is_served_once(quick_python, named):
    with locked(named / ".databases" / "tokyo"):
        refused = quick_python("manage.py", "dev", "--database", "tokyo")

    assert refused.returncode == 1
    assert "already (database tokyo): stop it" in refused.stderr
    assert "`make worker DATABASE=tokyo`" in refused.stderr
    assert not (named / "tokyo.db").exists()


def test_several_databases_are_served_at_once(quick_python, named):
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = str(server.getsockname()[1])
        with locked(named), locked(named / ".databases" / "osaka"):
            refused = quick_python("manage.py", "dev", "--database", "tokyo", PORT=taken)

    assert f"Port {taken} is taken" in refused.stderr  # and nothing else stands in the way
