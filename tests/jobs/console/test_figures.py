"""The console's figures."""

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db.models.functions import Now

from jobs.admin.failures import failure_lines
from jobs.console import counting, figures
from jobs.db import clock
from jobs.models import Call, Outcome, Status, uuid7
from tests.jobs.console.pages import attempt, in_state
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


def test_failures_read_as_one_line_per_kind():
    in_state(Status.FAILED, *"abcd")
    Chore.objects.filter(name__in="abc").update(error_kind="RateLimited", last_error="429")
    Chore.objects.filter(name="d").update(error_kind=None)

    found = figures.failures(Chore)

    assert [(each.kind, each.number, each.example) for each in found] == [
        ("RateLimited", 3, "429"),
        (None, 1, ""),
    ]


def test_the_distinct_values_of_an_index_are_bounded():
    in_state(Status.FAILED, *"abcd")
    for name in "abcd":
        Chore.objects.filter(name=name).update(error_kind=name)
    failed = Chore.objects.filter(status=Status.FAILED)

    assert counting.distinct(failed, "error_kind") == list("abcd")
    assert counting.distinct(failed, "error_kind", most=2) == ["a", "b"]


def test_what_ended_lately_is_counted_by_outcome():
    attempt(timedelta(0))
    attempt(timedelta(minutes=30), outcome=Outcome.FAILED)
    attempt(timedelta(hours=5), outcome=Outcome.TIMED_OUT)
    attempt(timedelta(hours=5), outcome=Outcome.SNOOZED)
    attempt(timedelta(hours=5), outcome=Outcome.LOST)  # lost: neither succeeded nor failed
    attempt(timedelta(hours=30))

    hour, day = figures.flows(Chore, clock.now())

    assert (hour.succeeded, hour.failed, hour.failure_rate) == (1, 1, 0.5)
    assert (day.succeeded, day.failed) == (1, 2)
    assert (len(hour.buckets), len(day.buckets)) == (12, 24)


def test_there_is_no_rate_of_what_was_not_counted(monkeypatch):
    for outcome in (Outcome.SUCCEEDED, Outcome.SUCCEEDED, Outcome.SUCCEEDED, Outcome.FAILED):
        attempt(timedelta(0), outcome=outcome)
    hour, _ = figures.flows(Chore, clock.now())
    assert hour.failure_rate == 0.25

    monkeypatch.setattr(counting, "MANY", 2)
    hour, _ = figures.flows(Chore, clock.now())

    assert hour.failure_rate is None


def test_an_overdue_call_is_unknown_too(alive):
    call = {"job_id": uuid7(), "epoch": 1, "key": "k", "number": 1, "provider": "p"}
    Call.objects.create(deadline=Now() + timedelta(minutes=1), **call)
    assert figures.unknown_calls() == 0

    Call.objects.update(deadline=Now() - timedelta(minutes=1))

    assert figures.unknown_calls() == 1


def test_the_users_own_table_can_be_read_off():
    """Total, provider and upload, as means and p95."""
    for number in range(20):
        slow = number == 19
        attempt(
            timedelta(minutes=number),
            seconds=40 if slow else 21,
            generate=38_000 if slow else 19_000,
            store=1_800,
        )
    attempt(timedelta(hours=2), seconds=21, generate=19_000)

    timings = figures.timings(Chore, clock.now())

    hour = {timing.step: timing for timing in timings.hour}
    assert (hour["total"].number, round(hour["total"].mean)) == (20, 21_950)
    assert (hour["generate"].mean, hour["generate"].p95) == (19_950, 19_000)
    assert (hour["store"].mean, hour["store"].p95) == (1_800, 1_800)
    assert {timing.step: timing.number for timing in timings.day} == {
        "total": 21,
        "generate": 21,
        "store": 20,
    }


@pytest.mark.parametrize(("count", "place"), [(1, 0), (19, 18), (20, 18), (100, 94), (101, 95)])
def test_the_95th_of_a_hundred(count, place):
    assert figures.p95(list(range(count))) == place


def test_more_kinds_of_failures_than_are_named_are_one_line():
    in_state(Status.FAILED, *"abcd")
    for name in "abcd":
        Chore.objects.filter(name=name).update(error_kind=name)

    with patch.object(figures, "MOST_KINDS", 2):
        found = failure_lines(Chore)

    assert [(line.kind, line.number) for line in found] == [("a", 1), ("b", 1), ("others", 2)]
