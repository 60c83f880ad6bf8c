"""Schedules for tests, and the database's clock as the tests set it."""

from datetime import UTC, datetime

from jobs.models import Schedule

MONDAY = datetime(2026, 5, 4, 6, tzinfo=UTC)


class Clock:
    """Stands in for the database's clock: all workers see the same moment."""

    def __init__(self, moment=MONDAY):
        self.moment = moment

    def __call__(self):
        return self.moment


def new_schedule(name="sweep", *, since=MONDAY, **columns):
    """A schedule whose moments were decided until `since`."""
    facts = {"kind": "testapp.NoopJob", "cron": "* * * * *", "time_zone": "UTC"}
    facts |= {"declared": {}, **columns}
    return Schedule.objects.create(name=name, last_scheduled_for=since, **facts)


def runs(model, name="sweep"):
    """The moments for which there are runs."""
    jobs = model.objects.filter(schedule_name=name).order_by("scheduled_for")
    return list(jobs.values_list("scheduled_for", flat=True))
