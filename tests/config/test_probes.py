"""/healthz and /readyz, as load balancers ask for them, with databases that fail in every way."""

import logging
import socket
import threading
from datetime import timedelta
from urllib.parse import urlsplit
from wsgiref.util import setup_testing_defaults

import pytest
from django.db import connection, connections
from django.db.migrations.recorder import MigrationRecorder

from config import probes
from config.wsgi import application
from tests.jobs import databases
from tests.jobs.processes import wait_until

proxy = databases.proxy

MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def readiness(monkeypatch):
    """A process that has not looked yet, whose answers are never fresh, on a busy machine."""
    monkeypatch.setattr(probes, "FRESH", 0)
    monkeypatch.setattr(probes, "SECONDS", 60)
    monkeypatch.setattr(probes, "HOPELESS", 600)
    monkeypatch.setattr(probes, "PATIENCE", probes.PATIENCE._replace(statements=MINUTE))
    monkeypatch.setattr(probes, "readiness", probes.Readiness())
    yield probes.readiness
    wait_until(lambda: not checks())  # their connections would keep the test database in use


def checks():
    return [thread for thread in threading.enumerate() if isinstance(thread, probes.Check)]


class Reply:
    def __init__(self, path, method="GET", **environ):
        setup_testing_defaults(environ)
        environ |= {"PATH_INFO": path, "REQUEST_METHOD": method}
        self.body = b"".join(application(environ, self.start)).decode()

    def start(self, status, headers, *_):
        self.status, self.headers = int(status.split()[0]), dict(headers)


def said(path="/readyz"):
    reply = Reply(path)
    return reply.status, reply.body


@pytest.fixture
def elsewhere_is(monkeypatch):
    """Let new connections go to this port."""

    def move(port):
        own = connections.settings["default"] | {"HOST": "127.0.0.1", "PORT": port}
        monkeypatch.setitem(connections.settings, "default", own)

    return move


# /healthz


@pytest.mark.parametrize("host", ["10.0.0.7:8000", "", "evil.example", "\x00"])
def test_a_process_that_lives_says_so_without_a_database_under_any_name(settings, host):
    settings.SECURE_SSL_REDIRECT = True
    settings.DEBUG = False

    reply = Reply("/healthz", HTTP_HOST=host)  # pytest-django forbids any query here

    assert (reply.status, reply.body) == (200, "ok\n")
    assert reply.headers["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in reply.headers


def test_the_head_of_a_reply_has_no_body():
    reply = Reply("/healthz", "HEAD")

    assert (reply.status, reply.body) == (200, "")
    assert reply.headers["Content-Length"] == "3"


@pytest.mark.parametrize("path", ["/healthz/", "/readyz/x", "/healthz.php", "/"])
def test_other_addresses_are_left_to_the_site(path):
    assert probes.answer({"PATH_INFO": path}, pytest.fail) is None


# /readyz


@pytest.mark.django_db
def test_a_site_is_ready_when_its_database_answers_and_is_migrated(caplog):
    assert said() == (200, "ok\n")
    assert said() == (200, "ok\n")
    assert caplog.records == []


@pytest.mark.django_db
def test_many_that_ask_at_once_cost_one_look(monkeypatch):
    monkeypatch.setattr(probes, "FRESH", 60)
    said()
    first = probes.readiness.check

    assert [said() for _ in range(50)] == [(200, "ok\n")] * 50
    assert probes.readiness.check is first


@pytest.mark.django_db(transaction=True)
def test_a_site_without_its_migrations_is_not_ready(caplog):
    last = MigrationRecorder.Migration.objects.filter(app="jobs").latest("id")
    last.delete()
    try:
        assert [said(), said()] == [(503, "migrations\n")] * 2
    finally:
        MigrationRecorder.Migration.objects.create(app=last.app, name=last.name)
    assert said() == (200, "ok\n")

    assert [record.levelname for record in caplog.records] == ["WARNING"] * 2  # one for each change


@pytest.mark.django_db(transaction=True)
def test_migrations_are_looked_for_until_all_are_there(monkeypatch):
    said()
    monkeypatch.setattr(probes, "has_all_migrations", lambda: pytest.fail("asked again"))

    assert said() == (200, "ok\n")


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_locked_table_of_migrations_is_a_reason_and_no_wait():
    with databases.locked("django_migrations"):
        assert said() == (503, "migrations\n")
        wait_until(lambda: not checks())  # the lock is not waited for
    assert said() == (200, "ok\n")


@pytest.mark.postgres
@pytest.mark.django_db
def test_a_database_that_refuses_connections_is_named_and_its_error_is_not(elsewhere_is, caplog):
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    elsewhere_is(port)

    replies = [said() for _ in range(3)]

    assert replies == [(503, "database\n")] * 3
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert str(port) in record.getMessage()  # why, for those who read logs


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_black_hole_costs_one_thread_and_its_end_is_noticed(proxy, elsewhere_is, monkeypatch):
    """The database goes silent in the middle of a query, and no timeout of its own ends that."""
    elsewhere_is(urlsplit(proxy.url).port)
    assert said() == (200, "ok\n")
    reached = threading.Event()

    def query(check):
        with connection.cursor() as cursor:
            proxy.is_silent = True
            reached.set()
            cursor.execute("SELECT 1")

    with monkeypatch.context() as patched:
        patched.setattr(probes, "SECONDS", 0.1)
        patched.setattr(probes.Check, "look", query)
        assert said() == (503, "database\n")
        assert reached.wait(60)
        assert [said() for _ in range(20)] == [(503, "database\n")] * 20
    assert len(checks()) == 1

    proxy.is_silent = False
    monkeypatch.setattr(probes, "HOPELESS", 0)  # as after a while

    wait_until(lambda: said() == (200, "ok\n"))
    wait_until(lambda: not checks())  # the one that hung has ended too


# Through Django, where the server does not come through config/wsgi.py


def test_django_s_own_addresses_answer_the_same(client, transactional_db):
    assert client.get("/healthz").content == b"ok\n"
    assert client.get("/readyz").status_code == 200
