"""The site as docs/servers.md starts it, and clients that mean harm or are only slow."""

import http.client
import re
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.db import connection
from gunicorn.config import Config

from config import web
from tests.config.conftest import ROOT, server_environment
from tests.jobs.databases import locked
from tests.jobs.processes import wait_until

pytestmark = pytest.mark.django_db  # or this file alone would have no database

# As the command `gunicorn` does, but with a short patience.
START = """
import sys
from config import web
web.ARRIVE_SECONDS = {patience}
from gunicorn.app.wsgiapp import run
sys.argv = ["gunicorn", "--bind", {bind!r}, "--workers", "1", "--threads", "{threads}"]
sys.argv += ["--graceful-timeout", "600", "config.wsgi"]
run()
"""
HOST = "Host: example.org\r\n"
FORM = "Content-Type: application/x-www-form-urlencoded\r\nCookie: csrftoken=" + "a" * 32 + "\r\n"
PAGE = "/robots.txt"  # needs no database
THREADS = 4
CLIENTS = 30  # many more than threads


class Site:
    def __init__(self, patience):
        self.folder = tempfile.TemporaryDirectory(prefix="tabie-")
        self.socket = Path(self.folder.name, "s")
        started = START.format(patience=patience, threads=THREADS, bind=f"unix:{self.socket}")
        log = Path(self.folder.name, "log")  # a file: a full pipe would stop the site
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-c", started], cwd=ROOT, env=server_environment(), stderr=stderr
            )
        while "Booting worker" not in log.read_text():
            assert self.process.poll() is None, "gunicorn did not start"
            time.sleep(0.05)
        self.visit()  # gunicorn's worker loses a SIGTERM that comes before it has started

    def connect(self, text=""):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(120)  # only so that a broken site ends the test
        client.connect(str(self.socket))
        client.sendall(text.encode())
        return client

    def visit(self, path=PAGE, **headers):
        visitor = http.client.HTTPConnection("example.org")
        visitor.sock = self.connect()
        visitor.request("GET", path, headers=headers)
        answer = visitor.getresponse()
        answer.text = answer.read().decode()
        visitor.close()
        return answer

    def ask(self, text):
        """Send this text, and read until the server hangs up."""
        with self.connect(text) as client:
            return b"".join(iter(lambda: client.recv(65536), b"")).decode()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=90)
        self.folder.cleanup()


@pytest.fixture(scope="module")
def site(django_db_setup):
    site = Site(patience=600)
    yield site
    site.stop()


def request(path, *headers, method="POST"):
    lines = "".join(f"{line}\r\n" for line in headers)
    return f"{method} {path} HTTP/1.1\r\n{HOST}{FORM}{lines}"


@pytest.mark.parametrize(
    "unfinished",
    [
        "",
        request("/", method="GET"),
        request("/admin/login/", "Content-Length: 1000") + "\r\na=",
        request("/admin/login/", "Content-Length: 1000", "Expect: 100-continue") + "\r\n",
        request("/admin/login/", "Content-Length: 1000000") + "\r\na=",
        request("/admin/login/", "Transfer-Encoding: chunked") + "\r\n5\r\na=",
        request("/api/guides/", "Content-Length: 900000", "Authorization: Bearer x") + "\r\n{",
        request("/robots.txt", "Connection: close", method="GET") + "\r\n",  # and never hangs up
    ],
    ids=["nothing", "head", "body", "expect", "large", "chunked", "api", "closing"],
)
def test_clients_that_never_finish_stop_no_visitor(site, unfinished):
    with ExitStack() as stack:
        for _ in range(CLIENTS):
            stack.enter_context(site.connect(unfinished))

        assert [site.visit().status for _ in range(3)] == [200, 200, 200]


def test_clients_that_do_not_read_their_answer_stop_no_visitor(site):
    with ExitStack() as stack:
        for _ in range(CLIENTS):
            client = stack.enter_context(site.connect())
            client.sendall((request(PAGE, method="GET") + "\r\n").encode())

        assert site.visit().status == 200


def test_a_large_upload_of_a_stranger_is_refused_before_it_is_sent(site):
    head = request("/admin/login/", "Content-Length: 100000000", "Expect: 100-continue")

    answer = site.ask(head + "\r\n")

    assert answer.startswith("HTTP/1.1 413 ")
    assert "100 Continue" not in answer
    assert "Connection: close" in answer


@pytest.mark.parametrize("length", ["-1", "abc", "1\r\nContent-Length: 2"])
def test_a_wrong_length_is_refused(site, length):
    assert site.ask(request("/", f"Content-Length: {length}") + "\r\nab").startswith("HTTP/1.1 400")


def test_requests_of_one_connection_are_answered_in_turn(site):
    small = request("/api/guides/", "Content-Length: 2") + "\r\n{}"
    last = request(PAGE, "Connection: close", method="GET") + "\r\n"

    answers = site.ask(small + small + last)

    # Without API_TOKEN the API is closed.
    assert re.findall(r"HTTP/1\.1 (\d+)", answers) == ["403", "403", "200"]


def test_a_client_that_waits_to_be_asked_for_its_body_is_asked_once(site):
    head = request("/api/guides/", "Content-Length: 2", "Expect: 100-continue", "Connection: close")
    with site.connect(head + "\r\n") as client:
        asked = client.recv(1000)
        client.sendall(b"{}")
        answer = client.recv(1000)

    assert asked == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert answer.startswith(b"HTTP/1.1 403 ")


def test_no_header_moves_the_site_or_makes_it_secure(site):
    answer = site.visit("/favicon.ico", **{"X-Forwarded-Proto": "https", "SCRIPT_NAME": "/moved"})

    assert "Strict-Transport-Security" not in answer.headers  # only sent over https
    assert answer.headers["Location"].startswith("/static/")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.parametrize("host", ["10.0.0.7:8000", "evil.example"])
def test_a_probe_is_answered_whatever_the_site_is_called(site, path, host):
    probe = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    wait_until(lambda: site.ask(probe).endswith("\r\n\r\nok\n"))  # a busy machine is ready later

    answer = site.ask(probe)

    assert answer.startswith("HTTP/1.1 200 OK\r\n")
    assert "\r\nCache-Control: no-store" in answer


def test_a_process_whose_threads_all_wait_for_the_database_still_lives(site):
    with locked("guides"), ExitStack() as stack:
        for _ in range(THREADS):
            stack.enter_context(site.connect(request("/", method="GET") + "\r\n"))
        wait_until(lambda: count_waiting() == THREADS)

        assert site.visit("/healthz").text == "ok\n"
        assert count_waiting() == THREADS  # no thread was needed


def count_waiting():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND datname = current_database()"
        )
        return cursor.fetchone()[0]


@pytest.mark.long
def test_a_request_has_a_deadline(django_db_setup):
    site = Site(patience=0.5)

    with site.connect(request("/", method="GET")) as slow, site.connect() as idle:
        told, untold = slow.recv(100), idle.recv(100)
    site.stop()

    assert told.startswith(b"HTTP/1.1 408 ")
    assert untold == b""


def test_the_server_stops_although_clients_are_connected(django_db_setup):
    site = Site(patience=600)

    with site.connect(), site.connect(request("/", method="GET")):
        site.visit()  # connections are accepted in turn, so these two are
        site.stop()

    assert site.process.returncode == 0


# The event loop, without a server around it


@contextmanager
def looping(listener, connections=100):
    """A worker whose event loop goes on by `a_round` only."""
    cfg = Config()
    cfg.set("worker_connections", connections)
    worker = web.SiteWorker(0, 0, [listener], None, 0, cfg, None)
    worker.poller = selectors.DefaultSelector()
    try:
        yield worker
    finally:
        worker.murder_keepalived(force=True)
        worker.poller.close()
        worker.tmp.close()


def a_round(worker, timeout=30):
    """What gunicorn's loop repeats."""
    can_accept = worker.nr_conns < worker.worker_connections
    if can_accept != worker._accepting:
        worker.set_accept_enabled(can_accept)
    worker.wait_for_and_dispatch_events(timeout)


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


@pytest.fixture
def full(listener, monkeypatch):
    """A worker with one connection more than it may keep, and its clients."""
    monkeypatch.setattr(web, "SHARE_SECONDS", 0)
    with looping(listener, connections=3) as worker, ExitStack() as stack:
        clients = []
        for _ in range(3):
            clients.append(stack.enter_context(socket.create_connection(listener.getsockname())))
            if len(clients) < 3:
                a_round(worker)
        yield worker, clients


def test_a_process_leaves_the_next_connection_to_another(listener, monkeypatch):
    monkeypatch.setattr(web, "SHARE_SECONDS", 60)
    address = listener.getsockname()
    with (
        looping(listener) as first,
        looping(listener) as second,
        socket.create_connection(address),
        socket.create_connection(address),
    ):
        a_round(first)
        a_round(first, timeout=0)
        a_round(second)

        assert (first.nr_conns, second.nr_conns) == (1, 1)


def test_a_process_alone_takes_the_next_connection_soon(listener):
    address = listener.getsockname()
    with (
        looping(listener) as worker,
        socket.create_connection(address),
        socket.create_connection(address),
    ):
        for _ in range(3):  # the second round ends when the moment for others is over
            a_round(worker, timeout=30)

        assert worker.nr_conns == 2


def test_a_client_that_is_dropped_while_it_sends_does_no_harm(full):
    worker, clients = full
    for client in clients[:2]:
        client.sendall(b"GET")  # seen in one look at all sockets, with the third connection

    worker.wait_for_and_dispatch_events(timeout=30)

    assert worker.nr_conns == len(worker.waiting) == 2


def test_the_head_is_read_once_however_many_packets_the_body_has(monkeypatch):
    monkeypatch.setattr(web, "LENGTH", Mock(wraps=web.LENGTH))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        conn = web.Connection(Config(), ours, None, None)
        seen = []
        for packet in (request("/", "Content-Length: 3") + "\r\n", "a", "=", "b"):
            conn.arrived += packet.encode()
            seen.append(conn.has_arrived())

    assert seen == [False, False, False, True]
    assert web.LENGTH.search.call_count == 1
