"""What a newcomer meets: one command, a picture, and nothing left running."""

import re
import signal
import time
import urllib.request

import pytest

from config.embedded.server import Server, binaries
from tests.config.families import alive, children_of


@pytest.mark.long
@pytest.mark.skipif(not binaries(), reason="the embedded PostgreSQL is not installed")
def test_a_new_clone_shows_a_picture_and_leaves_nothing_running(start, checkout, port):
    dev = start("manage.py", "dev", PORT=str(port))
    first = read_until_ready(dev, port)

    picture = wait_for_picture(port)
    children = children_of(dev.pid)
    dev.send_signal(signal.SIGINT)
    dev.send_signal(signal.SIGINT)
    last, _ = dev.communicate(timeout=90)

    assert "Demo guides saved: 5.\n" in first
    assert re.search(r"Admin login: admin, password \S{16} ", first)
    assert picture.startswith("/pictures/")
    assert re.search(r"^web    \| .*GET /guides/", last, re.MULTILINE)
    assert dev.returncode == 0
    assert last.endswith("Stopped, the database too: nothing is left running.\n")
    assert not Server(checkout / ".postgres").is_running()
    assert not [pid for pid in children if alive(pid)]

    again = start("manage.py", "dev", PORT=str(port))

    assert "manage.py changepassword admin" in read_until_ready(again, port)


def read_until_ready(dev, port):
    lines = []
    while f"ready: http://127.0.0.1:{port}/\n" not in "".join(lines[-1:]):
        lines.append(dev.stdout.readline())
        assert lines[-1], "".join(lines)
    return "".join(lines)


def wait_for_picture(port):
    while True:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/guides/kyoto-in-two-days/") as page:
            if found := re.search(r"/pictures/[0-9a-f]{64}/\d+\.webp", page.read().decode()):
                return found[0]
        time.sleep(0.2)
