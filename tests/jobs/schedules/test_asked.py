"""What a person asks of a schedule: run now, change, switch off and on, back to the code."""

from datetime import timedelta

import pytest

from jobs import schedules
from jobs.models import Schedule
from jobs.schedules import Refused, declaring
from tests.jobs.schedules.timetable import MONDAY, new_schedule, runs
from tests.testapp.models import Chore, NoopJob, WeeklyReport

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_run_by_hand_stands_beside_the_timetable(clock, looker):
    schedule = new_schedule(cron="0 7 * * *", overlap=True)

    job = schedules.run_now(schedule)

    assert (job.schedule_name, job.scheduled_for) == ("sweep", None)
    schedule.refresh_from_db()
    assert schedule.last_scheduled_for == MONDAY
    assert schedule.last_job_id == job.id
    clock.moment = MONDAY + timedelta(hours=1)
    assert looker.look() == 1


def test_a_run_by_hand_is_for_the_present_moment(clock):
    schedule = new_schedule(kind="testapp.WeeklyReport", arguments={"note": "by hand"})

    schedules.run_now(schedule)

    assert str(WeeklyReport.objects.get().week) == "2026-04-27"


def test_a_run_by_hand_holds_up_the_next_one_until_it_has_ended(clock, looker):
    schedules.run_now(new_schedule())
    clock.moment = MONDAY + timedelta(minutes=1)

    assert looker.look() == 0
    assert Schedule.objects.get().skipped == 1


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"kind": "testapp.Gone"}, "“testapp.Gone” is unknown"),
        ({"cron": "0 0 31 2 *"}, "never comes"),
        ({"undeclared_at": MONDAY}, "no longer in the code"),
        ({"arguments": {"colour": "red"}}, "colour"),
    ],
)
def test_a_run_by_hand_that_can_not_be_is_refused(columns, told):
    with pytest.raises(Refused) as refused:
        schedules.run_now(new_schedule(**columns))

    assert told in str(refused.value)
    assert NoopJob.objects.count() == 0


def test_no_run_by_hand_while_the_last_is_open_unless_it_may_overlap():
    schedule = new_schedule()
    schedules.run_now(schedule)

    with pytest.raises(Refused, match="still open"):
        schedules.run_now(schedule)

    schedules.change(schedule, overlap=True)
    schedules.run_now(schedule)
    assert len(runs(NoopJob)) == 2


def test_no_run_by_hand_of_a_job_that_exists():
    schedule = new_schedule(kind="testapp.Chore", arguments={"name": "sweep"}, overlap=True)
    schedules.run_now(schedule)

    with pytest.raises(Refused, match="exists already"):
        schedules.run_now(schedule)

    assert Chore.objects.count() == 1


@pytest.mark.parametrize("columns", [{"cron": "*/5 * * * *"}, {"time_zone": "Asia/Tokyo"}])
def test_another_time_fires_nothing_of_the_past(looker, columns):
    schedule = new_schedule()

    changes = schedules.change(schedule, **columns)

    [name] = columns
    assert changes == {name: (getattr(schedule, name), columns[name])}
    assert looker.look() == 0
    assert Schedule.objects.get().last_scheduled_for > MONDAY


def test_what_is_not_valid_is_not_changed():
    schedule = new_schedule()

    for columns in ({"cron": "0 0 31 2 *"}, {"time_zone": "Mars"}, {"grace": timedelta(-1)}):
        with pytest.raises(ValueError, match=r"never|not"):
            schedules.change(schedule, **columns)

    assert Schedule.objects.filter(cron="* * * * *", time_zone="UTC", grace=None).exists()


def test_what_it_missed_while_it_was_off_is_not_made_up_for(looker):
    schedule = new_schedule()
    assert schedules.switch(schedule, on=False)
    assert not schedules.switch(schedule, on=False)
    assert looker.look() == 0

    assert schedules.switch(schedule, on=True)

    assert looker.look() == 0
    assert Schedule.objects.get().skipped == 0


def test_a_person_can_go_back_to_what_the_code_declares():
    schedule = new_schedule()
    schedule.declared = declaring.facts_of(schedule) | {"grace": 60.0, "cron": "0 6 * * *"}
    schedule.save()

    changes = schedules.restore(schedule)

    assert changes == {
        "cron": ("* * * * *", "0 6 * * *"),
        "grace": (None, timedelta(minutes=1)),
    }
    assert declaring.changed_by_people(Schedule.objects.get()) == []
