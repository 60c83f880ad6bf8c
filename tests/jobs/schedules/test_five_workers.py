"""Five workers with wrong clocks, a schedule every minute, both clock changes: each run once."""

import logging
import os
import random
import threading
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from django.db import connection
from django.utils import timezone

from jobs.models import Schedule
from jobs.schedules.looking import Looker
from tests.jobs.schedules.timetable import new_schedule, runs
from tests.testapp.models import NoopJob

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE = timedelta(minutes=1)
MONTHS = [datetime(2026 + number // 12, number % 12 + 1, 1, tzinfo=UTC) for number in range(13)]
NIGHTS = [  # of the clock change in Berlin
    (datetime(2026, 3, 29, 0, 45, tzinfo=UTC), datetime(2026, 3, 29, 1, 15, tzinfo=UTC)),
    (datetime(2026, 10, 25, 0, 45, tzinfo=UTC), datetime(2026, 10, 25, 1, 15, tzinfo=UTC)),
]
DAYS = [(start - timedelta(days=1), end + timedelta(days=1)) for start, end in NIGHTS]
# `make test-long` takes the days around each night, `make test-year` a whole year, in twelve parts
# that run side by side.
SPANS = {"": NIGHTS, "days": DAYS, "year": list(pairwise(MONTHS))}[os.environ.get("SPAN", "")]
HOSTS = [  # how far the host's clock is off, and where the host believes to be
    (timedelta(minutes=10), "Asia/Tokyo"),
    (timedelta(hours=-3), "America/New_York"),
    (timedelta(days=400), "Europe/Berlin"),
    (timedelta(seconds=-59), "Asia/Kathmandu"),
    (timedelta(0), "UTC"),
]


@pytest.fixture
def wrong_clocks(monkeypatch):
    """Every thread has the clock of its own host."""
    host = threading.local()
    right = {name: getattr(time, name) for name in ("time", "time_ns")}
    now = timezone.now

    def seconds():
        return getattr(host, "off", timedelta(0)).total_seconds()

    monkeypatch.setattr(time, "time", lambda: right["time"]() + seconds())
    monkeypatch.setattr(time, "time_ns", lambda: right["time_ns"]() + int(seconds() * 1e9))
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(seconds=seconds()))
    return host


class SimulatedYear:
    """Minute by minute, one worker looks for certain, and the others if chance wants it.

    The clock goes on when the worker on duty has seen that the minute is decided.
    """

    def __init__(self, clock, host, end):
        self.clock = clock
        self.host = host
        self.start = clock.moment
        self.last = end - MINUTE
        self.ticked = threading.Condition()
        self.faults = []

    def work(self, number, off, zone):
        self.host.off = off
        chance = random.Random(number)
        looker = Looker()
        try:
            with timezone.override(zone):
                for passed in range((self.last - self.start) // MINUTE + 1):
                    is_on_duty = passed % len(HOSTS) == number
                    if is_on_duty or chance.random() < 0.4:
                        self.wait_for(self.start + passed * MINUTE)
                        looker.look()
                    if is_on_duty:
                        self.see_it_decided(looker)
        except Exception as error:
            self.faults.append(error)
        finally:
            connection.close()

    def wait_for(self, moment):
        with self.ticked:
            self.ticked.wait_for(lambda: self.clock.moment >= moment or self.faults)

    def see_it_decided(self, looker):
        while not Schedule.objects.filter(last_scheduled_for=self.clock.moment).exists():
            if self.faults:
                return
            looker.look()  # another worker has locked it
        with self.ticked:
            self.clock.moment = min(self.clock.moment + MINUTE, self.last)
            self.ticked.notify_all()

    def run(self):
        threads = [
            threading.Thread(target=self.work, args=(number, *host))
            for number, host in enumerate(HOSTS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


@pytest.mark.search
@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize(("start", "end"), SPANS)
def test_five_workers_run_every_minute_once(clock, wrong_clocks, caplog, start, end):
    caplog.set_level(logging.WARNING)  # half a million lines would fill the memory
    clock.moment = start
    new_schedule(time_zone="Europe/Berlin", overlap=True, since=start - MINUTE)
    year = SimulatedYear(clock, wrong_clocks, end)

    year.run()

    assert year.faults == []
    assert runs(NoopJob) == [start + minute * MINUTE for minute in range((end - start) // MINUTE)]
    assert Schedule.objects.get().skipped == 0
