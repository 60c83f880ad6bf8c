"""Which account runs the embedded server, and which accounts may use it."""

import os
import subprocess
import sys

import pytest

from config.embedded import account
from config.embedded.server import Server, ServerError, binaries
from tests.config.servers import NOBODY, ROOT, START, as_root, ask

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not binaries(), reason="no PostgreSQL for this platform"),
]


@pytest.fixture
def nobody_python():
    """A Python that the account `nobody` can run with our packages."""
    packages = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    for program in [sys.executable, "/usr/bin/python3"]:
        identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        options = {**identity, "cwd": ROOT, "env": {"PYTHONPATH": packages, "PATH": os.defpath}}
        try:
            subprocess.run([program, "-c", "import psycopg, config"], check=True, **options)
        except (OSError, subprocess.CalledProcessError):
            continue
        return program, options
    pytest.skip("nobody can't reach Python or this folder")


@as_root
def test_an_ordinary_user_starts_it_and_root_uses_the_same(server, nobody_python):
    program, options = nobody_python
    server.folder.mkdir()
    os.chown(server.folder, NOBODY, NOBODY)

    subprocess.run([program, "-c", START, server.folder], check=True, **options)

    assert os.stat(f"/proc/{server.pid()}").st_uid == NOBODY
    assert ask(server, "SELECT 1") == 1
    server.stop()
    server.start()
    assert os.stat(f"/proc/{server.pid()}").st_uid == NOBODY


@as_root
def test_a_folder_of_another_user_is_refused(tmp, nobody_python):
    program, options = nobody_python
    server = Server(tmp / "pg", durable=False)
    server.start()

    refused = subprocess.run(
        [program, "-c", START, server.folder], stderr=subprocess.PIPE, text=True, **options
    )

    assert "Was it made by another user?" in refused.stderr


@as_root
@pytest.mark.usefixtures("nobody_python")
@pytest.mark.parametrize("name", ["short", "long" * 30])
def test_without_namespaces_root_hands_the_server_to_another_account(tmp, name, monkeypatch):
    server = Server(tmp / name / "pg", durable=False)
    server.start()
    server.stop()
    monkeypatch.setattr(account, "NAMESPACE", ["false"])

    server.start()

    assert ask(server, "SELECT 1") == 1
    assert os.stat(f"/proc/{server.pid()}").st_uid == server.folder.stat().st_uid != 0


@as_root
def test_an_account_that_cannot_reach_the_folder_is_explained(tmp, monkeypatch):
    monkeypatch.setattr(account, "NAMESPACE", ["false"])
    tmp.chmod(0o700)

    with pytest.raises(ServerError, match="must be able to reach this folder"):
        Server(tmp / "pg", durable=False).start()
