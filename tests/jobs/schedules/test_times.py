"""The moments of an expression: clock changes, leap days, ends of months, from any start."""

import random
from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from itertools import pairwise, takewhile
from zoneinfo import ZoneInfo

import pytest

from jobs.schedules import times

NIGHTS = [  # of the clock change, in spring and in autumn
    ("Europe/Berlin", datetime(2026, 3, 28, 20, tzinfo=UTC)),
    ("Europe/Berlin", datetime(2026, 10, 24, 20, tzinfo=UTC)),
    ("America/New_York", datetime(2026, 3, 8, 1, tzinfo=UTC)),
    ("America/New_York", datetime(2026, 11, 1, 1, tzinfo=UTC)),
]
HOUR = timedelta(hours=1)
EXPRESSIONS = [
    *("* * * * *", "*/15 * * * *", "7 * * * *", "30 2 * * *", "45 1 * * *", "0,30 2 * * *"),
    *("0 2,3 * * *", "10 1-3 * * *", "0 0 * * *", "*/20 2 * * *", "0 */2 * * *", "59 23 * * 0"),
]


def utc(*parts):
    return datetime(*parts, tzinfo=UTC)


def until(expression, zone, start, end):
    return list(takewhile(lambda tick: tick <= end, times.after(expression, zone, start)))


@pytest.mark.parametrize(
    ("zone", "date", "expected"),
    [
        ("Europe/Berlin", utc(2026, 3, 28, 12), utc(2026, 3, 29, 1)),
        ("America/New_York", utc(2026, 3, 7, 12), utc(2026, 3, 8, 7)),
    ],
)
def test_a_time_that_is_left_out_comes_when_the_clock_has_jumped(zone, date, expected):
    assert times.next_after("30 2 * * *", zone, date) == expected


@pytest.mark.parametrize(
    ("zone", "expression", "first"),
    [
        ("Europe/Berlin", "30 2 * * *", utc(2026, 10, 25, 0, 30)),
        ("America/New_York", "30 1 * * *", utc(2026, 11, 1, 5, 30)),
    ],
)
def test_a_time_that_comes_twice_counts_once(zone, expression, first):
    day = timedelta(days=1)

    ticks = until(expression, zone, first - timedelta(hours=1), first + day + 2 * day)

    assert ticks == [first, first + day + HOUR, first + 2 * day + HOUR]


@pytest.mark.parametrize(("zone", "start"), NIGHTS)
def test_every_quarter_of_an_hour_goes_on_evenly_through_the_night(zone, start):
    ticks = until("*/15 * * * *", zone, start, start + timedelta(hours=12))

    assert {later - tick for tick, later in pairwise(ticks)} == {timedelta(minutes=15)}
    assert len(ticks) == 48


def test_the_29th_of_february_comes_every_four_years():
    ticks = times.after("0 12 29 2 *", "UTC", utc(2026, 1, 1))

    assert [next(ticks).year for _ in range(2)] == [2028, 2032]


def test_the_last_day_of_a_month_comes_every_month():
    ticks = until("0 0 L * *", "UTC", utc(2028, 1, 1), utc(2028, 4, 30))

    assert [tick.day for tick in ticks] == [31, 29, 31, 30]


def test_a_31st_comes_in_the_months_that_have_one():
    ticks = until("0 0 31 * *", "UTC", utc(2026, 1, 1), utc(2026, 6, 1))

    assert [tick.month for tick in ticks] == [1, 3, 5]


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize(("zone", "start"), NIGHTS)
def test_a_start_from_any_moment_finds_the_same_moments(expression, zone, start):
    ticks = until(expression, zone, start, start + timedelta(days=9))
    assert ticks == sorted(set(ticks))

    chance = random.Random(expression)
    moments = [start + timedelta(minutes=15) * number for number in range(48)]
    for moment in [*moments, *chance.sample(ticks[:-1], min(20, len(ticks) - 1))]:
        later = next(tick for tick in ticks if tick > moment)
        assert times.next_after(expression, zone, moment) == later


@pytest.mark.few(24)
@pytest.mark.parametrize("most", [2, times.MOST])
@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize(("zone", "start"), NIGHTS)
def test_the_latest_moment_is_found_forward_and_after_a_long_time_in_reverse(
    expression, zone, start, most, monkeypatch
):
    monkeypatch.setattr(times, "MOST", most)
    watermark = start - timedelta(days=7 if expression.endswith("0") else 1)
    ticks = until(expression, zone, watermark, start + timedelta(days=8))

    for number in range(40):
        now = start + timedelta(minutes=15, seconds=1) * number
        due = times.due(expression, zone, watermark, now)

        passed = ticks[: bisect_right(ticks, now)]
        assert due.tick == passed[-1]
        assert due.missed == min(len(passed) - 1, most)
        assert due.before == (passed[-2] if len(passed) > 1 else None)
        assert due.following == ticks[len(passed)]


def test_nothing_is_due_before_the_next_moment_comes():
    watermark = utc(2026, 5, 4, 6)

    assert times.due("0 6 * * *", "UTC", watermark, utc(2026, 5, 5, 5, 59, 59)) is None
    assert times.due("0 6 * * *", "UTC", watermark, utc(2026, 5, 5, 6)).tick == utc(2026, 5, 5, 6)


def test_nothing_is_due_when_the_clock_goes_back():
    assert times.due("* * * * *", "UTC", utc(2026, 5, 5), utc(2026, 5, 4)) is None


def test_the_grace_is_the_distance_to_the_next_moment_and_at_most_a_day():
    hourly = times.due("0 * * * *", "UTC", utc(2026, 5, 4, 5, 1), utc(2026, 5, 4, 6, 10))
    weekly = times.due("0 6 * * 1", "UTC", utc(2026, 5, 3), utc(2026, 5, 4, 6, 10))

    assert times.grace_for(hourly, None) == HOUR
    assert times.grace_for(weekly, None) == timedelta(days=1)
    assert times.grace_for(weekly, timedelta(minutes=5)) == timedelta(minutes=5)


def test_a_moment_may_be_given_in_any_zone():
    moment = datetime(2026, 5, 4, 15, tzinfo=ZoneInfo("Asia/Tokyo"))

    assert times.next_after("30 6 * * *", "UTC", moment) == utc(2026, 5, 4, 6, 30)
