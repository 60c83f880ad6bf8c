"""What a worker's look does: one run per moment, late ones and overlapping ones left out."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from jobs.models import Schedule
from jobs.schedules import looking
from jobs.schedules.looking import Looker
from tests.jobs.conftest import SimulatedWorker, elsewhere, in_another_thread
from tests.jobs.schedules.timetable import MONDAY, new_schedule, runs
from tests.testapp.models import Chore, NoopJob, WeeklyReport

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE = timedelta(minutes=1)


def end_all():
    worker = SimulatedWorker("w")
    worker.succeed(*worker.claim(NoopJob, slots=10))


def test_a_moment_that_comes_has_its_run(clock, looker):
    schedule = new_schedule(cron="0 7 * * *")
    clock.moment = MONDAY + timedelta(hours=1)

    assert looker.look() == 1

    job = NoopJob.objects.get()
    assert (job.schedule_name, job.scheduled_for) == ("sweep", clock.moment)
    schedule.refresh_from_db()
    assert schedule.last_scheduled_for == clock.moment
    assert schedule.last_job_id == job.id
    assert schedule.skipped == 0


def test_a_moment_has_no_run_before_it_comes_nor_a_second_one_after(clock, looker):
    new_schedule(cron="0 7 * * *", overlap=True)

    clock.moment = MONDAY + timedelta(minutes=59, seconds=59)
    assert looker.look() == 0
    for minutes in (60, 60, 61, 90):
        clock.moment = MONDAY + timedelta(minutes=minutes)
        looker.look()

    assert runs(NoopJob) == [MONDAY + timedelta(hours=1)]


def test_the_run_is_made_by_its_job_for_its_moment(clock, looker):
    new_schedule(
        kind="testapp.WeeklyReport",
        cron="0 6 * * 1",
        time_zone="Asia/Tokyo",
        arguments={"note": "by itself"},
        since=MONDAY - timedelta(days=7),
    )
    clock.moment = MONDAY - timedelta(hours=8, minutes=59)

    looker.look()

    report = WeeklyReport.objects.get()
    assert str(report.week) == "2026-04-27"
    assert report.note == "by itself"
    assert report.scheduled_for == datetime(2026, 5, 3, 21, tzinfo=UTC)


def test_many_that_look_at_once_make_one_run(clock):
    new_schedule(cron="0 7 * * *", overlap=True)
    clock.moment = MONDAY + timedelta(hours=1)
    together = threading.Barrier(8)
    made = []

    def look():
        looker = Looker()
        together.wait()
        made.append(looker.look())
        connection.close()

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(made) == [0] * 7 + [1]
    assert NoopJob.objects.count() == 1
    assert Schedule.objects.get().skipped == 0


def test_after_downtime_there_is_one_run_and_the_others_are_counted(clock, looker, caplog):
    schedule = new_schedule(cron="0 * * * *")
    clock.moment = MONDAY + timedelta(hours=12, minutes=10)

    assert looker.look() == 1

    assert runs(NoopJob) == [MONDAY + timedelta(hours=12)]
    schedule.refresh_from_db()
    assert schedule.skipped == 11
    assert schedule.skipped_for == MONDAY + timedelta(hours=11)
    assert schedule.skip_reason == looking.LATE
    [line] = [r.message for r in caplog.records if r.levelname == "WARNING"]
    assert "skipped 11" in line


def test_a_run_later_than_its_grace_is_left_out_and_said(clock, looker, caplog):
    schedule = new_schedule(cron="0 * * * *", grace=5 * MINUTE)
    clock.moment = MONDAY + timedelta(hours=1, minutes=5, seconds=1)

    assert looker.look() == 0

    schedule.refresh_from_db()
    assert (schedule.skipped, schedule.skip_reason) == (1, looking.LATE)
    assert schedule.last_scheduled_for == schedule.skipped_for == MONDAY + timedelta(hours=1)
    assert "skipped 1" in caplog.text


def test_a_weekly_run_is_made_up_for_within_a_day_but_not_later(clock, looker):
    new_schedule(cron="0 7 * * 1")

    clock.moment = MONDAY + timedelta(hours=1, days=1)
    assert looker.look() == 1
    clock.moment += timedelta(days=7, seconds=1)
    assert looker.look() == 0


def test_after_a_very_long_downtime_the_latest_moment_counts(clock, looker):
    schedule = new_schedule()
    clock.moment = MONDAY + timedelta(days=60, seconds=10)

    assert looker.look() == 1

    assert runs(NoopJob) == [MONDAY + timedelta(days=60)]
    schedule.refresh_from_db()
    assert schedule.skipped == 10_000


def test_while_a_run_is_open_its_next_moment_is_left_out(clock, looker):
    schedule = new_schedule()
    for minutes in (1, 2):
        clock.moment = MONDAY + minutes * MINUTE
        looker.look()

    assert runs(NoopJob) == [MONDAY + MINUTE]
    schedule.refresh_from_db()
    assert (schedule.skipped, schedule.skip_reason) == (1, looking.OPEN)
    assert schedule.last_scheduled_for == MONDAY + 2 * MINUTE

    end_all()
    clock.moment = MONDAY + 3 * MINUTE
    assert looker.look() == 1


def test_a_schedule_that_may_overlap_does(clock, looker):
    new_schedule(overlap=True)
    for minutes in (1, 2):
        clock.moment = MONDAY + minutes * MINUTE
        looker.look()

    assert len(runs(NoopJob)) == 2


def test_a_clock_that_goes_back_makes_no_run_twice(clock, looker):
    new_schedule(overlap=True)
    for minutes in (1, 2, 0, 1, 2, 1, 2):
        clock.moment = MONDAY + minutes * MINUTE
        looker.look()

    assert runs(NoopJob) == [MONDAY + MINUTE, MONDAY + 2 * MINUTE]


def test_a_watermark_from_a_backup_makes_no_run_twice_and_counts_none_as_skipped(clock, looker):
    schedule = new_schedule(overlap=True)
    for minutes in (1, 2, 3):
        clock.moment = MONDAY + minutes * MINUTE
        looker.look()
    Schedule.objects.update(last_scheduled_for=MONDAY)

    assert looker.look() == 0

    assert len(runs(NoopJob)) == 3
    schedule.refresh_from_db()
    assert schedule.last_scheduled_for == clock.moment
    assert schedule.skipped == 0


@pytest.mark.parametrize("columns", [{"enabled": False}, {"undeclared_at": MONDAY}])
def test_one_that_is_off_or_no_longer_in_the_code_does_not_run(clock, looker, columns):
    new_schedule(**columns)
    clock.moment = MONDAY + MINUTE

    assert looker.look() == 0
    assert NoopJob.objects.count() == 0


def test_a_transaction_that_vanishes_leaves_neither_run_nor_watermark(clock, looker):
    schedule = new_schedule()
    clock.moment = MONDAY + MINUTE

    with transaction.atomic():
        assert looking.decide(schedule, clock.moment).job_id
        transaction.set_rollback(True)

    assert NoopJob.objects.count() == 0
    assert looker.look() == 1


@pytest.mark.postgres
def test_a_worker_that_decides_hides_the_schedule_from_the_others(clock, looker, caplog):
    schedule = new_schedule()
    clock.moment = MONDAY + MINUTE

    with elsewhere(lambda: looking.decide(schedule, clock.moment)):
        assert in_another_thread(Looker().look) == 0
        assert caplog.records == []  # it stepped past the schedule, without waiting

    assert looker.look() == 0
    assert len(runs(NoopJob)) == 1


def test_a_job_of_its_own_uniqueness_is_not_made_twice(clock, looker):
    schedule = new_schedule(kind="testapp.Chore", arguments={"name": "sweep"}, overlap=True)
    for minutes in (1, 2):
        clock.moment = MONDAY + minutes * MINUTE
        looker.look()

    assert Chore.objects.count() == 1
    schedule.refresh_from_db()
    assert (schedule.skipped, schedule.skip_reason) == (1, looking.KNOWN)
