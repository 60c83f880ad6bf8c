"""manage.py jobs status --probe: a word and an exit code for supervisors."""

import socket

import pytest
from django.db import connections

from jobs.models import Status, Worker
from tests.jobs.conftest import new_chore
from tests.jobs.console.commands import run
from tests.jobs.console.pages import in_state

pytestmark = pytest.mark.django_db(transaction=True)


def test_work_without_a_worker_is_not_well(chore):
    assert run("status", "--probe") == ("no_worker\n", 1)


def test_a_worker_is_enough_whatever_else_needs_a_person(alive):
    new_chore("due")
    in_state(Status.FAILED, "failed")

    assert run("status", "--probe") == ("ok\n", 0)
    assert run("status", "--probe", "--json") == ('{\n  "status": "ok"\n}\n', 0)


def test_a_worker_that_is_stopping_does_no_work_that_is_due(alive, chore):
    Worker.objects.update(draining=True)

    assert run("status", "--probe") == ("no_worker\n", 1)


def test_without_work_no_worker_is_needed():
    in_state(Status.FAILED, "failed")

    assert run("status", "--probe") == ("ok\n", 0)


@pytest.mark.postgres
def test_a_database_that_is_away_is_a_word_and_no_traceback(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    usual = connections["default"]
    away = usual.settings_dict | {"HOST": "127.0.0.1", "PORT": port}
    monkeypatch.setitem(connections.settings, "default", away)
    connections["default"] = type(usual)(away, "default")
    try:
        assert run("status", "--probe") == ("database\n", 1)
    finally:
        connections["default"] = usual
