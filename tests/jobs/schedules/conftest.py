import pytest

from jobs.schedules.looking import Looker
from tests.jobs.schedules.timetable import Clock


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("jobs.db.clock.now", clock)
    return clock


@pytest.fixture
def looker():
    return Looker()
