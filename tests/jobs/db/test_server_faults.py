"""A fault of the database server costs no job an attempt, and no result is dropped."""

import threading
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.db import (
    InternalError,
    OperationalError,
    close_old_connections,
    connection,
    transaction,
)

from jobs import queue
from jobs.db import faults
from jobs.models import Attempt, Status
from jobs.worker.crew import perform
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.jobs.conftest import new_chore
from tests.jobs.orders import run_of
from tests.jobs.processes import outcomes_of, wait_until
from tests.jobs.running import running
from tests.testapp.models import Chore, Hooked

pytestmark = pytest.mark.django_db(transaction=True)

# Read-only, disk full, out of memory, too many connections, the disk fails, shutting down.
STATES = ["25006", "53100", "53200", "53300", "58030", "57P01", "57P03", "08006"]


def fault(state):
    """An error as Django raises it: psycopg gives the state, Django chooses the class."""
    error = (InternalError if state == "25006" else OperationalError)(f"the server says {state}")
    error.__cause__ = type("Said", (Exception,), {"sqlstate": state})()
    return error


@pytest.mark.postgres
@pytest.mark.parametrize("state", STATES)
def test_it_is_the_servers_fault(state):
    assert faults.is_servers(fault(state))
    assert faults.is_passing(fault(state))


@pytest.mark.postgres
def test_a_claim_whose_reply_was_lost_is_released_at_once_and_is_no_interruption(monkeypatch):
    chore = new_chore("sweep")
    claim = queue.claim

    def lose_the_reply(*arguments, **options):
        monkeypatch.setattr(queue, "claim", claim)
        claim(*arguments, **options)
        raise fault("08006")

    monkeypatch.setattr(queue, "claim", lose_the_reply)
    with running(Loop([Chore], Options(lease=timedelta(hours=1)))):
        wait_until(lambda: Chore.objects.get().status == Status.SUCCEEDED)

    assert outcomes_of(chore.id) == ["released", "succeeded"]
    assert Chore.objects.get().interruptions == 0


@pytest.mark.postgres
@pytest.mark.parametrize("block", [nullcontext, transaction.atomic])
def test_a_session_whose_server_became_read_only_is_left(block):
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")

    with pytest.raises(InternalError, match="read-only"), block():
        Chore.objects.update(priority=1)
    close_old_connections()  # as after a request

    assert new_chore("sweep")


@pytest.mark.postgres
@pytest.mark.parametrize("state", ["23505", "22001", "42P01", "25P03"])
def test_it_is_not_the_servers_fault(state):
    connection.ensure_connection()

    assert not faults.is_servers(fault(state))
    assert not faults.is_passing(fault(state))


@pytest.mark.postgres
@pytest.mark.parametrize("state", STATES)
def test_a_hook_that_met_it_turns_no_success_into_a_failure(worker, monkeypatch, state):
    queue.enqueue([Hooked(name="a")])
    job = worker.claim_one(Hooked)
    monkeypatch.setattr(Hooked, "on_success", lambda job, result: meet(state))

    with pytest.raises((OperationalError, InternalError)):
        worker.succeed(job)

    row = Hooked.objects.get()
    assert (row.status, row.attempts) == (Status.PROCESSING, 0)
    monkeypatch.undo()
    assert worker.succeed(job) == []


def meet(state):
    """Let the server itself say it, within the open transaction."""
    with connection.cursor() as cursor:
        cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$")


def test_a_hook_whose_other_database_is_away_holds_up_no_other(worker, monkeypatch):
    queue.enqueue([Hooked(name="a"), Hooked(name="b")])
    jobs = worker.claim(Hooked, slots=2)
    away = OperationalError("the other database is away")
    away.__cause__ = type("Said", (Exception,), {"sqlstate": "08006"})()

    def ask_the_other(job, result):
        if job.name == "a":
            raise away

    monkeypatch.setattr(Hooked, "on_success", ask_the_other)

    [missed] = worker.succeed(*jobs)

    assert (missed.job.name, missed.is_busy) == ("a", True)
    assert Hooked.objects.get(name="b").status == Status.SUCCEEDED


@pytest.mark.postgres
@pytest.mark.parametrize("state", STATES)
def test_a_job_that_met_it_uses_no_attempt(worker, chore, monkeypatch, state):
    monkeypatch.setattr(Chore, "perform", Mock(side_effect=fault(state)))

    end = perform(run_of(worker.claim_one()), "fast")
    queue.settle([end])

    row = Chore.objects.get()
    assert (row.status, row.attempts) == (Status.QUEUED, 0)
    assert Attempt.objects.get().outcome == "unavailable"


@pytest.mark.postgres
def test_results_outlive_a_spell_in_which_the_database_is_read_only(monkeypatch):
    finish = threading.Event()
    monkeypatch.setattr(Chore, "perform", lambda chore, run: finish.wait(60))
    for name in "abcd":
        new_chore(name)
    loop = Loop([Chore], Options(poll=0.1))

    with running(loop):
        wait_until(lambda: len(loop.held.runs) == 4)
        with read_only():
            finish.set()
            wait_until(lambda: loop.held.ended and loop.outage.since is not None)
        wait_until(lambda: Chore.objects.filter(status=Status.SUCCEEDED).count() == 4)

    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"succeeded"}
    assert set(Chore.objects.values_list("attempts", "interruptions")) == {(0, 0)}


@contextmanager
def read_only():
    """Let other sessions reconnect to a read-only server; this session can still write."""
    let_others("on")
    try:
        yield
    finally:
        let_others("off")


def let_others(only_read):
    name = connection.settings_dict["NAME"]
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = off")
        cursor.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = {only_read}')
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
