from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from jobs import retries
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
    assert retries.wait_for_provider(NoopJob, -5) == timedelta(0)
    assert retries.wait_for_provider(NoopJob, None) > timedelta(0)
