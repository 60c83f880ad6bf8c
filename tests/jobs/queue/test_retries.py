from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.errors import ProviderUnavailable, Snooze
from jobs.queue import outcomes, retries
from tests.testapp.models import Chore, NoopJob


@given(st.integers(0, 10_000))
def test_a_wait_is_never_negative_nor_above_the_cap(failures):
    assert timedelta(0) <= retries.backoff(NoopJob, failures) <= NoopJob.backoff_cap


def test_waits_grow_and_are_spread_out():
    first = [retries.backoff(NoopJob, 1) for _ in range(200)]
    fourth = [retries.backoff(NoopJob, 4) for _ in range(200)]

    assert max(first) <= NoopJob.backoff_base < max(fourth) <= NoopJob.backoff_base * 8
    assert min(fourth) < NoopJob.backoff_base * 2


def test_each_model_has_its_own_base():
    assert all(retries.backoff(Chore, 1) <= Chore.backoff_base for _ in range(50))


def test_a_providers_wait_is_bounded():
    assert retries.wait_for_provider(NoopJob, 10**9) == NoopJob.patience
    assert timedelta(seconds=1) <= retries.wait_for_provider(NoopJob, -5) < timedelta(seconds=2)
    assert retries.wait_for_provider(NoopJob, None) > timedelta(0)


@pytest.mark.parametrize(
    "nonsense", [float("nan"), float("inf"), 1e300, -1, "Wed, 21 Oct 2026 07:28:00 GMT", None, "7"]
)
def test_any_nonsense_is_a_wait(nonsense):
    job = NoopJob()

    for error in (Snooze(nonsense), ProviderUnavailable(retry_after=nonsense)):
        wait = outcomes.from_error(job, error).wait
        assert timedelta(0) <= wait <= timedelta(days=365)
