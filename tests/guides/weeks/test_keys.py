"""Weeks by their names: ISO weeks in the site's time zone."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import translation

from guides.weeks.jobs import WeeklySummary
from guides.weeks.keys import InvalidWeek, Week
from jobs.schedules import times
from tests.guides.weeks.conftest import NONSENSE


@pytest.mark.parametrize("value", NONSENSE)
def test_nonsense_is_refused_with_the_value(value):
    with pytest.raises(InvalidWeek) as refused:
        Week.parse(value)

    assert ascii(value)[:40] in str(refused.value)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("key", ["2026-W47", "2026-W53", "2027-W01", "2000-W01", "2999-W52"])
def test_a_week_is_called_what_it_was_called(key):
    assert Week.parse(key).key == key
    assert Week.of(Week.parse(key).starts_at).key == key


def test_the_year_of_a_week_is_that_of_its_thursday():
    assert Week.of_day(date(2027, 1, 1)).key == "2026-W53"
    assert Week.of_day(date(2027, 1, 4)).key == "2027-W01"
    assert Week.parse("2027-W01").before.key == "2026-W53"
    assert Week.parse("2026-W01").before.key == "2025-W52"


def test_sunday_evening_belongs_to_the_week_that_ends(settings):
    settings.TIME_ZONE = "Asia/Tokyo"
    sunday = datetime(2026, 11, 22, 14, 30, tzinfo=UTC)  # 23:30 in Tokyo
    assert Week.of(sunday).key == "2026-W47"
    assert Week.of(sunday + timedelta(minutes=30)).key == "2026-W48"
    assert Week.parse("2026-W47").ends_at == sunday + timedelta(minutes=30)


def test_monday_at_six_sums_up_the_week_before(settings):
    settings.TIME_ZONE = "Asia/Tokyo"
    sunday = datetime(2026, 11, 22, 14, 30, tzinfo=UTC)

    monday = times.next_after(WeeklySummary.schedule.expression, "Asia/Tokyo", sunday)

    assert monday == datetime(2026, 11, 22, 21, tzinfo=UTC)
    job = WeeklySummary.for_schedule(monday)
    assert job.week_key == "2026-W47"


def test_the_first_monday_of_a_year_sums_up_the_last_week_of_the_old_one():
    monday = datetime(2027, 1, 4, 6, tzinfo=UTC)

    assert WeeklySummary.for_schedule(monday).week_key == "2026-W53"


@pytest.mark.parametrize(("key", "hours"), [("2026-W13", 167), ("2026-W43", 169)])
def test_a_week_with_a_clock_change_is_an_hour_shorter_or_longer(settings, key, hours):
    settings.TIME_ZONE = "Europe/Berlin"
    week = Week.parse(key)

    took = week.ends_at.astimezone(UTC) - week.starts_at.astimezone(UTC)

    assert took == timedelta(hours=hours)
    assert Week.parse(key).ends_at == Week.of_day(week.last_day + timedelta(days=1)).starts_at


@pytest.mark.parametrize(
    ("key", "english", "japanese"),
    [
        ("2026-W47", "November 16 – 22, 2026", "2026年11月16日 – 22日"),
        ("2026-W49", "November 30 – December 6, 2026", "2026年11月30日 – 12月6日"),
        ("2026-W53", "Dec. 28, 2026 – Jan. 3, 2027", "2026年12月28日 – 2027年1月3日"),
    ],
)
def test_its_days_are_said_in_words(key, english, japanese):
    assert Week.parse(key).words == english
    with translation.override("ja"):
        assert Week.parse(key).words == japanese
