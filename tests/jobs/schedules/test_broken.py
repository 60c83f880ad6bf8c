"""Schedules that can't run: they stop no other, are said once, and lose nothing silently."""

from datetime import timedelta

import pytest
from django.db import connection

from jobs.models import Schedule
from jobs.schedules import looking
from jobs.worker import lookout
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.jobs.conftest import elsewhere
from tests.jobs.schedules.timetable import MONDAY, new_schedule, runs
from tests.testapp.models import Chore, NoopJob, Pot

pytestmark = pytest.mark.django_db(transaction=True)

BROKEN = [
    {"kind": "testapp.Gone"},
    {"cron": "0 0 31 2 *"},
    {"cron": "* * * * * *"},
    {"cron": "@daily"},
    {"time_zone": "Mars/One"},
    {"grace": timedelta(days=-1)},
]


def errors(caplog):
    return [record for record in caplog.records if record.levelname == "ERROR"]


@pytest.mark.parametrize("columns", BROKEN)
def test_a_broken_schedule_stops_no_other_and_is_said_once(clock, looker, caplog, columns):
    broken = new_schedule("broken", **columns)
    new_schedule("good", overlap=True)

    for minutes in (1, 2, 3):
        clock.moment = MONDAY + timedelta(minutes=minutes)
        assert looker.look() == 1

    [line] = errors(caplog)
    assert "broken" in line.message
    broken.refresh_from_db()
    assert broken.last_scheduled_for == MONDAY  # whoever knows the kind may still run it


def test_one_that_is_mended_and_breaks_again_is_said_again(clock, looker, caplog):
    schedule = new_schedule(kind="testapp.Gone")
    clock.moment = MONDAY + timedelta(minutes=1)
    for kind in ("testapp.Gone", "testapp.NoopJob", "testapp.Gone", "testapp.Gone"):
        Schedule.objects.filter(pk=schedule.pk).update(kind=kind)
        looker.look()

    assert len(errors(caplog)) == 2


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"arguments": {"colour": "red"}}, "colour"),
        ({"kind": "testapp.Chore", "arguments": {"name": None}}, "name"),
        ({"kind": "testapp.WeeklyReport"}, "note"),
    ],
)
def test_a_run_that_can_not_be_enqueued_is_counted_with_its_reason(
    clock, looker, caplog, columns, told
):
    bad = new_schedule("bad", **columns)
    new_schedule("good", overlap=True)
    clock.moment = MONDAY + timedelta(minutes=1)

    assert looker.look() == 1

    bad.refresh_from_db()
    assert bad.skipped == 1
    assert told in bad.skip_reason
    assert bad.last_scheduled_for == clock.moment
    assert len(errors(caplog)) == 1
    assert Chore.objects.count() == 0


@pytest.mark.postgres
def test_a_broken_constraint_that_speaks_at_commit_stops_no_other(clock, looker, monkeypatch):
    def for_schedule(cls, scheduled_for, **arguments):
        Pot.objects.create(shelf_id=-1)
        return cls()

    monkeypatch.setattr(Chore, "for_schedule", classmethod(for_schedule))
    bad = new_schedule("bad", kind="testapp.Chore")
    new_schedule("good")
    clock.moment = MONDAY + timedelta(minutes=1)

    assert looker.look() == 1

    bad.refresh_from_db()
    assert bad.skipped == 1
    assert Pot.objects.count() == 0
    assert runs(NoopJob, "good") == [clock.moment]


@pytest.mark.postgres
def test_a_locked_table_of_one_kind_delays_its_runs_and_loses_none(clock, looker, caplog):
    new_schedule("stuck", kind="testapp.Chore", arguments={"name": "sweep"})
    new_schedule("good")
    clock.moment = MONDAY + timedelta(minutes=1)

    with elsewhere(lambda: lock("chores")):
        assert looker.look() == 1
    assert "stuck is left alone" in caplog.text
    assert Schedule.objects.get(name="stuck").skipped == 0

    assert looker.look() == 1
    assert runs(Chore, "stuck") == [clock.moment]


@pytest.mark.postgres
def test_a_locked_table_of_schedules_stops_no_worker(clock, caplog):
    new_schedule()
    worker = Loop([NoopJob], Options(slots=1))
    clock.moment = MONDAY + timedelta(minutes=1)

    with elsewhere(lambda: lock("job_schedules")):
        worker.work()
    assert "schedules are left alone" in caplog.text

    worker.lookout.schedules_at = 0
    worker.lookout.hurry(0)
    worker.work()
    assert runs(NoopJob) == [clock.moment]


def test_a_worker_looks_every_few_seconds_and_not_at_every_poll(clock, monkeypatch):
    looks = []
    worker = Loop([NoopJob], Options(slots=1))
    monkeypatch.setattr(looking.Looker, "look", lambda self: looks.append(1))
    moment = [1000.0]
    monkeypatch.setattr(lookout.time, "monotonic", lambda: moment[0])

    for _ in range(20):
        worker.lookout.look()
        moment[0] += 1.5

    assert len(looks) in range(5, 9)


def lock(table):
    with connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
