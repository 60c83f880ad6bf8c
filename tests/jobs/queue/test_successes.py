"""Successes from which nothing else follows: one statement on PostgreSQL, the same in the end."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs import queue
from jobs.db import clock
from jobs.models import Attempt, Outcome, Process, Status
from jobs.queue import processes, successes, totals
from jobs.queue.outcomes import End
from tests.jobs import quick
from tests.jobs.conftest import expire_lease, in_another_thread, make_due
from tests.jobs.quick import SUCCEEDED, note_in_history, number_counted, statuses
from tests.testapp.models import NoopJob

pytestmark = pytest.mark.django_db(transaction=True)
claim = quick.claim


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
