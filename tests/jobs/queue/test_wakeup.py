import time

import pytest
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from jobs import queue
from jobs.queue import wakeup
from jobs.queue.wakeup import Listener
from tests.jobs.conftest import in_another_thread
from tests.testapp.models import Chore, NoopJob

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


@pytest.fixture(autouse=True)
def no_recent_notice(monkeypatch):
    monkeypatch.setattr(wakeup, "_noticed", {})
    monkeypatch.setattr(wakeup, "_unsent", wakeup._Unsent())


@pytest.fixture
def woken():
    calls = []
    listener = Listener(calls.append)
    listener.start()
    wait_for(calls, 1)  # the listener calls once when it starts
    calls.clear()
    yield calls
    listener.stopped.set()
    listener.join()


def test_a_committed_job_wakes_the_workers(woken):
    queue.enqueue([NoopJob()])

    wait_for(woken, 1)


def test_a_notice_names_the_kinds_of_its_transaction(woken):
    with transaction.atomic():
        queue.enqueue([NoopJob()])
        queue.enqueue([Chore(name="sweep")])
        queue.enqueue([NoopJob()])

    wait_for(woken, 1)
    assert woken == [["testapp.Chore", "testapp.NoopJob"]]


def test_what_a_savepoint_takes_back_does_not_take_the_notice_of_the_rest(woken):
    with transaction.atomic():
        with transaction.atomic():
            queue.enqueue([NoopJob()])
            transaction.set_rollback(True)
        queue.enqueue([Chore(name="sweep")])

    wait_for(woken, 1)
    assert "testapp.Chore" in woken[0]


def test_a_kind_is_named_however_soon_after_another(woken, monkeypatch):
    monkeypatch.setattr(wakeup, "PAUSE", 3600)
    queue.enqueue([NoopJob()])
    queue.enqueue([Chore(name="sweep")])

    wait_for(woken, 2)
    assert woken == [["testapp.NoopJob"], ["testapp.Chore"]]


def test_more_kinds_than_a_notice_can_name_are_any_kind(woken, monkeypatch):
    monkeypatch.setattr(wakeup, "LONGEST", 20)
    with transaction.atomic():
        queue.enqueue([NoopJob()])
        queue.enqueue([Chore(name="sweep")])

    wait_for(woken, 1)
    assert woken == [[]]


def test_nobody_is_woken_before_the_commit(woken):
    with transaction.atomic():
        queue.enqueue([NoopJob()])
        in_another_thread(notify)
        wait_for(woken, 1)  # the listener has heard everything up to here

    wait_for(woken, 2)
    assert len(woken) == 2


def notify():
    with connection.cursor() as cursor:
        cursor.execute("NOTIFY jobs")


def test_many_commits_in_a_row_are_one_notice(woken, monkeypatch):
    monkeypatch.setattr(wakeup, "PAUSE", 3600)
    with CaptureQueriesContext(connection) as sent:
        for _ in range(50):
            queue.enqueue([NoopJob()])

    assert sum("pg_notify" in query["sql"] for query in sent) == 1
    wait_for(woken, 1)


def test_a_wake_up_that_fails_does_not_fail_the_commit(monkeypatch):
    def fail():
        raise OperationalError("no connection")

    monkeypatch.setattr(wakeup, "_notify", fail)

    queue.enqueue([NoopJob()])

    assert NoopJob.objects.count() == 1


def end_sessions(query):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE query LIKE %s AND datname = current_database() AND pid <> pg_backend_pid()",
            [query],
        )


def test_a_listener_whose_connection_was_ended_listens_again(woken):
    end_sessions("LISTEN jobs")
    wait_for(woken, 1)
    woken.clear()
    wakeup._noticed.clear()

    queue.enqueue([NoopJob()])

    wait_for(woken, 1)


def test_a_listener_behind_a_pooler_says_so_once_however_often_it_connects(
    monkeypatch, caplog, request
):
    """A pooler gives NOTIFY's answer to nobody; the real one is in test_process_pooler."""
    caplog.set_level("INFO")
    monkeypatch.setattr(wakeup, "ECHO_SECONDS", 0.1)
    monkeypatch.setattr(wakeup.sessions, "elsewhere", lambda statement: None)
    woken = request.getfixturevalue("woken")

    end_sessions("LISTEN jobs\\_%")
    wait_for(woken, 1)

    assert caplog.text.count("LISTEN has no effect") == 1


def wait_for(calls, number):
    deadline = time.monotonic() + 60
    while len(calls) < number:
        assert time.monotonic() < deadline
        time.sleep(0.01)
