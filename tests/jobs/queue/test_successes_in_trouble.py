"""Successes of one statement, when a hook, a constraint, a lock or the database is in the way."""

from contextlib import nullcontext
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from jobs import queue
from jobs.db import sessions
from jobs.models import Attempt, Outcome
from jobs.queue import settling
from jobs.queue.outcomes import End
from tests.jobs import quick
from tests.jobs.conftest import in_another_thread
from tests.jobs.quick import number_counted, statuses
from tests.testapp.models import NoopJob

pytestmark = pytest.mark.django_db(transaction=True)
claim = quick.claim


def raise_in_hook(*_):
    raise RuntimeError("no blue left")


def test_what_is_written_is_not_reported_as_lost_when_another_end_is_in_trouble(
    worker, claim, monkeypatch
):
    monkeypatch.setattr(NoopJob, "on_failure", raise_in_hook)
    done, failed = claim(2)
    ends = [
        End(done, Outcome.SUCCEEDED),
        End(failed, Outcome.FAILED, error=ValueError("no"), final=True),
    ]

    with CaptureQueriesContext(connection) as sent:
        assert queue.settle(ends) == []

    assert statuses() == ["succeeded", "failed"]
    assert number_counted() == 1
    assert sum("noted" in each["sql"] for each in sent) <= 1  # on SQLite step by step


@pytest.mark.postgres
def test_what_is_written_is_not_reported_as_lost_when_the_database_is(worker, claim, monkeypatch):
    done, failed = claim(2)
    ends = [
        End(done, Outcome.SUCCEEDED),
        End(failed, Outcome.FAILED, error=ValueError("no"), final=True),
    ]
    lost = Mock(side_effect=OperationalError("server closed the connection unexpectedly"))
    with monkeypatch.context() as patch:
        patch.setattr(settling, "_settle_by_steps", lost)
        with pytest.raises(OperationalError):
            queue.settle(ends)

    assert queue.settle(ends) == []
    assert statuses() == ["succeeded", "failed"]


@pytest.mark.postgres
def test_a_lost_reply_is_answered_by_repeating(worker, claim):
    [job] = claim()

    def lose_the_reply(execute, *query):
        execute(*query)
        raise OperationalError("server closed the connection unexpectedly")

    with connection.execute_wrapper(lose_the_reply), pytest.raises(OperationalError):
        worker.succeed(job)
    worker.succeed(job)

    assert statuses() == ["succeeded"]
    assert Attempt.objects.count() == number_counted() == 1


REFUSE_ONE = """
    CREATE FUNCTION pg_temp.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE integrity_constraint_violation USING MESSAGE = 'not this one'; END $$;
    CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON noop_jobs {when} FOR EACH ROW
        WHEN (NEW.status = 'succeeded' AND NEW.id = '{id}') EXECUTE FUNCTION pg_temp.refuse()
"""


@pytest.mark.postgres
@pytest.mark.parametrize("within", [nullcontext, transaction.atomic])
@pytest.mark.parametrize("when", ["", "DEFERRABLE INITIALLY DEFERRED"])
def test_a_constraint_that_one_job_breaks_is_its_own_failure(worker, claim, when, within):
    refused, done = claim(2)
    with connection.cursor() as cursor:
        cursor.execute(REFUSE_ONE.format(when=when, id=refused.id))
        try:
            with within():
                assert worker.succeed(refused, done) == []
        finally:
            cursor.execute("DROP FUNCTION pg_temp.refuse CASCADE")

    assert statuses() == ["queued", "succeeded"]
    assert "not this one" in NoopJob.objects.get(id=refused.id).last_error


@pytest.mark.postgres
def test_a_refused_job_of_another_epoch_leaves_those_that_are_written_alone(worker, claim):
    refused, done = claim(2)
    NoopJob.objects.filter(id=refused.id).update(epoch=3)
    refused.epoch = 3
    with connection.cursor() as cursor:
        cursor.execute(REFUSE_ONE.format(when="", id=refused.id))
        try:
            assert worker.succeed(done, refused) == []
        finally:
            cursor.execute("DROP FUNCTION pg_temp.refuse CASCADE")

    assert statuses() == ["queued", "succeeded"]


@pytest.mark.postgres
def test_a_locked_table_is_waited_for_no_longer_than_the_worker_says(worker, claim):
    jobs = claim()
    patience = sessions.Patience(timedelta(milliseconds=50), timedelta(seconds=5))

    def settle():
        with sessions.with_patience(patience), pytest.raises(OperationalError) as raised:
            worker.succeed(*jobs)
        return raised.value

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE noop_jobs IN ACCESS EXCLUSIVE MODE")
        error = in_another_thread(settle)

    assert "lock timeout" in str(error)
    assert statuses() == ["processing"]
