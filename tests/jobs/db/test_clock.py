"""Waits stay within bounds, even if a provider or a job asks for nonsense."""

from datetime import timedelta

import pytest

from jobs.db import clock


@pytest.mark.parametrize(
    ("asked", "wait"),
    [
        (10**400, timedelta(days=365)),
        (-(10**400), timedelta(seconds=1)),
        (float("inf"), timedelta(days=365)),
        (float("nan"), timedelta(seconds=1)),
        ("a while", timedelta(seconds=1)),
        (None, timedelta(seconds=1)),
        (7, timedelta(seconds=7)),
    ],
    ids=lambda value: str(value)[:20],
)
def test_any_nonsense_becomes_a_wait(asked, wait):
    assert clock.bounded(asked, shortest=1.0) == wait
