"""Successes from which nothing else follows: one statement on PostgreSQL, the same in the end."""

from contextlib import nullcontext
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs import queue
from jobs.db import clock, sessions
from jobs.models import Attempt, Outcome, Process, Status
from jobs.queue import processes, settling, successes, totals
from jobs.queue.outcomes import End
from tests.jobs.conftest import expire_lease, in_another_thread, make_due
from tests.testapp.models import NoopJob

pytestmark = pytest.mark.django_db(transaction=True)

SUCCEEDED = ("testapp.NoopJob", "succeeded")


@pytest.fixture
def claim(worker):
    """Enqueue jobs without hooks and claim them, in the order of their ids."""

    def claim(number=1, **columns):
        queue.enqueue([NoopJob(**columns) for _ in range(number)])
        return sorted(worker.claim(NoopJob, slots=number), key=lambda job: job.id)

    return claim


def statuses():
    return list(NoopJob.objects.order_by("id").values_list("status", flat=True))


def number_counted():
    return totals.sums()[SUCCEEDED].number


def note_in_history(job):
    """An end of an earlier claim with the same epoch: a failover lost what came with it."""
    told = {"worker": "of another past", "started_at": "2026-01-01T00:00Z"}
    return Attempt.objects.create(
        job_id=job.id, kind=job._meta.label, epoch=job.epoch, outcome="succeeded", **told
    )


@pytest.mark.postgres
@pytest.mark.parametrize("number", [1, 50])
def test_any_number_of_them_is_one_statement(worker, claim, number):
    jobs = claim(number)
    worker.succeed(*claim())  # compiles it

    with CaptureQueriesContext(connection) as sent:
        worker.succeed(*jobs)

    assert len(sent) == 1
    assert statuses() == ["succeeded"] * (number + 1)


@pytest.mark.postgres
def test_the_statement_limits_how_long_it_can_hold_its_locks(worker, claim):
    jobs = claim()
    with CaptureQueriesContext(connection) as sent:
        worker.succeed(*jobs)

    assert "'lock_timeout', '5000'" in sent[-1]["sql"]


def test_the_row_the_history_and_the_counters_tell_of_it(worker, claim):
    [job] = claim(unavailable_since="2026-01-01T00:00Z", last_error="no", error_kind="No")
    started_at = NoopJob.objects.get().locked_at

    assert worker.succeed(job) == []

    row = NoopJob.objects.get()
    assert (row.status, row.epoch, row.attempts) == (Status.SUCCEEDED, 1, 0)
    assert (row.locked_at, row.locked_by, row.lease_expires_at) == (None, None, None)
    assert (row.unavailable_since, row.last_error, row.error_kind) == (None, None, None)
    assert row.finished_at
    attempt = Attempt.objects.get()
    assert (attempt.job_id, attempt.kind, attempt.epoch) == (job.id, "testapp.NoopJob", 1)
    assert (attempt.worker, attempt.outcome, attempt.error) == ("fast", "succeeded", None)
    assert (attempt.started_at, attempt.steps) == (started_at, None)
    assert attempt.ended_at >= started_at
    assert number_counted() == 1


def test_the_milliseconds_of_the_claims_are_counted(worker, claim):
    jobs = claim(2)
    for job in jobs:
        moment = job.locked_at or NoopJob.objects.get(id=job.id).locked_at
        NoopJob.objects.filter(id=job.id).update(locked_at=moment - timedelta(seconds=90))

    worker.succeed(*jobs)

    assert 180_000 <= totals.sums()[SUCCEEDED].milliseconds < 300_000


def test_a_claim_that_was_taken_over_is_left_to_its_new_owner(slow_worker, worker, claim):
    [late] = claim()
    expire_lease(late)
    queue.rescue(NoopJob)
    make_due(late)
    slow_worker.claim_one(NoopJob)

    [missed] = worker.succeed(late)

    assert (missed.job, missed.is_busy) == (late, False)
    row = NoopJob.objects.get()
    assert (row.status, row.locked_by) == (Status.PROCESSING, "slow")
    assert Attempt.objects.get().outcome == Outcome.LOST


def test_a_worker_that_claimed_a_job_again_ends_only_the_new_claim(worker, claim):
    [late] = claim()
    expire_lease(late)
    queue.rescue(NoopJob)
    make_due(late)
    again = worker.claim_one(NoopJob)

    assert [missed.job for missed in worker.succeed(late)] == [late]
    assert statuses() == ["processing"]
    assert worker.succeed(again) == []


def test_an_epoch_that_was_given_out_twice_is_told_by_the_workers_name(slow_worker, worker, claim):
    [late] = claim()
    NoopJob.objects.update(locked_by="slow")  # as after a failover that lost the first claim

    assert [missed.job for missed in worker.succeed(late)] == [late]
    assert statuses() == ["processing"]
    assert not Attempt.objects.exists()


def test_the_same_claim_ended_twice_is_written_once(worker, claim):
    [job] = claim()

    [missed] = queue.settle([End(job, Outcome.SUCCEEDED), End(job, Outcome.SUCCEEDED)])

    assert missed.job is job
    assert Attempt.objects.count() == number_counted() == 1


def test_a_canceled_job_stays_canceled(worker, claim):
    canceled, done = claim(2)
    queue.cancel(NoopJob.objects.filter(id=canceled.id))

    assert [missed.job for missed in worker.succeed(canceled, done)] == [canceled]
    assert statuses() == ["canceled", "succeeded"]
    assert number_counted() == 1


@pytest.mark.postgres
def test_a_locked_row_is_left_for_later_and_holds_up_no_other(worker, claim):
    locked, free = claim(2)

    with transaction.atomic():
        NoopJob.objects.select_for_update().get(id=locked.id)
        [missed] = in_another_thread(lambda: worker.succeed(locked, free))

    assert (missed.job, missed.is_busy) == (locked, True)
    assert statuses() == ["processing", "succeeded"]
    assert worker.succeed(locked) == []


def test_claims_of_several_epochs_and_other_ends_are_settled_together(worker, claim):
    again, done, failed, stepped = claim(4)
    NoopJob.objects.filter(id=again.id).update(epoch=3)
    again.epoch = 3
    ends = [End(job, Outcome.SUCCEEDED) for job in (again, done)]
    ends.append(End(failed, Outcome.FAILED, error=ValueError("no"), final=True))
    ends.append(End(stepped, Outcome.SUCCEEDED, steps={"paint": 12}))

    assert queue.settle(ends) == []

    assert statuses() == ["succeeded", "succeeded", "failed", "succeeded"]
    assert Attempt.objects.get(job_id=again.id).epoch == 3
    assert Attempt.objects.get(job_id=stepped.id).steps == {"paint": 12}
    assert number_counted() == 3


def test_a_claim_that_the_history_has_already_ends_without_a_second_entry(worker, claim, caplog):
    told, untold = claim(2)
    note_in_history(told)

    assert worker.succeed(told, untold) == []

    assert statuses() == ["succeeded"] * 2
    assert Attempt.objects.filter(worker="fast").get().job_id == untold.id
    assert "has ends of these claims already" in caplog.text
    assert number_counted() == 1


@pytest.mark.parametrize("tells", [True, False])
def test_a_job_of_a_process_ends_in_it(worker, claim, tells):
    process = processes.start("spring cleaning")
    [job] = claim(process_id=process.pk)
    processes.seal(process)
    job.process_id = process.pk if tells else None  # `perform` may have changed it

    worker.succeed(job)

    assert Process.objects.get().ended_at


def test_in_a_callers_transaction_it_is_undone_with_it(worker, claim):
    [job] = claim()

    with transaction.atomic():
        worker.succeed(job)
        transaction.set_rollback(True)

    assert statuses() == ["processing"]
    assert not Attempt.objects.exists()


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


def test_the_day_that_is_counted_is_one_of_the_site(worker, claim, settings):
    settings.TIME_ZONE = "Pacific/Kiritimati"  # 14 hours ahead: nearly always another day than UTC
    forget = [timezone.get_default_timezone.cache_clear, successes._statement.cache_clear]
    for each in forget:
        each()
    try:
        worker.succeed(*claim())
        [(day,)] = totals.sums("day")
        assert day == clock.now().date()
    finally:
        for each in forget:
            each()


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
