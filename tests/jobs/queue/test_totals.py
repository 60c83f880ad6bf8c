import threading
from datetime import UTC, date, datetime, timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from jobs import queue
from jobs.db import clock
from jobs.models import Attempt, Outcome, Total
from jobs.queue import totals
from jobs.queue.outcomes import End
from tests.jobs.conftest import LEASE, elsewhere, in_another_thread, make_due, new_chore
from tests.testapp.models import Chore, NoopJob

pytestmark = pytest.mark.django_db(transaction=True)

DAY = date(2026, 1, 1)


def claim(*names):
    for name in names:
        new_chore(name)
    return queue.claim(Chore, len(names), "me", LEASE)


def test_each_claim_that_ends_is_counted_by_kind_and_outcome(worker):
    done, failed, also_done = claim("a", "b", "c")

    worker.succeed(done, also_done)
    worker.fail(failed, ValueError("no"))

    kind = "testapp.Chore"
    found = {key: counted.number for key, counted in totals.sums().items()}
    assert found == {(kind, "failed"): 1, (kind, "succeeded"): 2}


def test_the_milliseconds_are_those_of_the_claims(worker):
    jobs = claim("a", "b")
    Chore.objects.update(locked_at=F("locked_at") - timedelta(seconds=90))

    worker.succeed(*jobs)

    [sums] = totals.sums().values()
    assert sums.milliseconds >= 180_000
    took = sum((a.ended_at - a.started_at for a in Attempt.objects.all()), timedelta(0))
    assert abs(sums.milliseconds - took / timedelta(milliseconds=1)) < 60_000


def test_a_clock_that_was_set_back_takes_nothing_away(worker):
    [job] = claim("a")
    Chore.objects.update(locked_at=F("locked_at") + timedelta(hours=1))

    worker.succeed(job)

    assert totals.sums() == {("testapp.Chore", "succeeded"): (1, 0)}


def test_a_job_that_is_canceled_in_the_queue_is_no_claim(chore):
    queue.cancel(Chore.objects.all())

    assert totals.sums() == {}


def test_the_day_is_one_of_the_site(worker, settings):
    settings.TIME_ZONE = "Pacific/Kiritimati"  # 14 hours ahead: nearly always another day than UTC
    timezone.get_default_timezone.cache_clear()
    [job] = claim("a")

    try:
        worker.succeed(job)
        [(day,)] = totals.sums("day")

        assert day == clock.now().date()
        assert clock.now().utcoffset() == timedelta(hours=14)
    finally:
        timezone.get_default_timezone.cache_clear()


def test_what_is_rolled_back_is_not_counted(worker):
    [job] = claim("a")

    with transaction.atomic():
        worker.succeed(job)
        transaction.set_rollback(True)

    assert totals.sums() == {}


def test_an_end_that_the_history_has_already_is_not_counted_again(worker):
    job, other = claim("a", "b")
    Attempt.objects.create(  # a failover that lost commits has issued an epoch twice
        job_id=job.id,
        kind="testapp.Chore",
        epoch=job.epoch,
        worker="another",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        outcome=Outcome.LOST,
    )

    worker.succeed(job, other)

    assert totals.sums("outcome")[("succeeded",)].number == 1
    assert Attempt.objects.filter(outcome="succeeded").count() == 1


def add(number, outcome="succeeded"):
    return Total.objects.create(
        kind="a.B", outcome=outcome, day=DAY, number=number, milliseconds=10 * number
    )


def test_compacting_keeps_the_sums_and_leaves_one_row_each(monkeypatch):
    monkeypatch.setattr(totals, "PAGE", 3)
    for number in range(1, 8):
        add(number)
        add(number, outcome="failed")
    before = totals.sums("kind", "outcome", "day")

    while totals.compact():
        pass

    assert totals.sums("kind", "outcome", "day") == before
    assert Total.objects.count() == 2


def test_compacting_asks_before_every_page_whether_it_may_go_on(monkeypatch):
    monkeypatch.setattr(totals, "PAGE", 2)
    for number in range(1, 7):
        add(number)
    answers = iter([True, True, False])

    assert totals.compact(lambda: next(answers)) == 2

    assert totals.sums() == {("a.B", "succeeded"): (21, 210)}
    assert Total.objects.count() == 4


def test_compacting_steps_past_rows_that_somebody_holds():
    held, *_ = add(1), add(2), add(3)

    with elsewhere(lambda: list(Total.objects.filter(pk=held.pk).select_for_update())):
        if connection.vendor == "postgresql":  # SQLite has no rows to lock, only the whole file
            totals.compact()

    totals.compact()
    assert totals.sums() == {("a.B", "succeeded"): (6, 60)}


def test_no_reader_sees_a_smaller_sum_while_rows_are_added_together(monkeypatch):
    for number in range(1, 5):
        add(number)
    seen = []
    create = Total.objects.bulk_create

    def look_first(rows):
        seen.append(in_another_thread(totals.sums))  # the old rows are deleted, the new not there
        return create(rows)

    monkeypatch.setattr(totals.Total.objects, "bulk_create", look_first)

    totals.compact()

    assert seen == [{("a.B", "succeeded"): (10, 100)}]
    assert totals.sums() == {("a.B", "succeeded"): (10, 100)}


def test_workers_that_settle_at_once_do_not_wait_for_each_other(worker):
    jobs = claim("a", "b")
    halfway, done = threading.Event(), threading.Event()

    def settle_slowly():
        with transaction.atomic():
            queue.settle([End(jobs[0], Outcome.SUCCEEDED)])
            halfway.set()
            done.wait(60)
        connection.close()

    if connection.vendor != "postgresql":
        return  # SQLite has one writer at a time
    thread = threading.Thread(target=settle_slowly)
    thread.start()
    assert halfway.wait(60)
    assert worker.succeed(jobs[1]) == []
    done.set()
    thread.join()

    assert totals.sums("outcome") == {
        ("succeeded",): (2, totals.sums("outcome")[("succeeded",)][1])
    }


def test_a_lost_reply_counts_nothing_twice(worker):
    queue.enqueue([NoopJob()])
    jobs = queue.claim(NoopJob, 1, "me", LEASE)
    end = End(jobs[0], Outcome.SUCCEEDED)
    queue.settle([end])

    queue.settle([end])  # as after a commit whose reply was lost

    assert totals.sums("kind")[("testapp.NoopJob",)].number == 1


def test_every_run_of_a_retried_job_is_counted(worker, chore):
    worker.fail(worker.claim_one(), ValueError("no"))
    make_due(chore)
    worker.succeed(worker.claim_one())

    found = {way: counted.number for (way,), counted in totals.sums("outcome").items()}
    assert found == {"failed": 1, "succeeded": 1}


def test_the_migration_counts_the_history_that_there_is(worker, chore):
    worker.fail(worker.claim_one(), ValueError("no"))
    make_due(chore)
    worker.succeed(worker.claim_one())
    Attempt.objects.update(started_at=F("ended_at") - timedelta(seconds=2))
    Total.objects.all().delete()  # as before there were totals

    migration = import_module("jobs.migrations.0010_time")
    with connection.schema_editor() as editor:
        migration.count_history(apps, editor)

    today = timezone.localdate(Attempt.objects.first().ended_at)
    kind = "testapp.Chore"
    assert totals.sums("kind", "outcome", "day") == {
        (kind, "failed", today): (1, 2000),
        (kind, "succeeded", today): (1, 2000),
    }
