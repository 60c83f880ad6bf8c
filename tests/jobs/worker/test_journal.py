"""The log's line about an ended claim says what follows for the job."""

import logging
from datetime import timedelta

import pytest

from jobs import queue
from jobs.errors import LeaseLost, PermanentError, ProviderUnavailable, Snooze
from jobs.models import Outcome
from jobs.queue import outcomes
from jobs.queue.outcomes import End
from jobs.worker import journal
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db


@pytest.fixture
def line(caplog):
    """Claim a job, settle it with this end, and return what the log says of it."""
    caplog.set_level(logging.INFO)

    def line(end, **columns):
        queue.enqueue([Chore(name="sweep", **columns)])
        [job] = queue.claim(Chore, 1, "w", timedelta(minutes=1))
        ended = end(job)
        assert queue.settle([ended]) == []
        caplog.clear()
        journal.report(ended, "w")
        return caplog.records[-1].getMessage()

    return line


def raising(error):
    return lambda job: outcomes.from_error(job, error)


def test_a_failed_attempt_says_when_it_is_tried_again(line):
    def fail(job):
        end = outcomes.from_error(job, ValueError("no broom"))
        end.wait = timedelta(seconds=4.2)
        return end

    assert line(fail) == "failed: no broom (tried again in 4.2 s)"


@pytest.mark.parametrize(
    ("error", "columns"),
    [(ValueError("no broom"), {"max_attempts": 1}), (PermanentError("no broom"), {})],
)
def test_the_last_failed_attempt_says_that_it_was_the_last(line, error, columns):
    said = line(raising(error), **columns)

    assert said.endswith("no broom (given up: not tried again)")


@pytest.mark.parametrize(
    ("error", "follows"),
    [
        (Snooze(90), "(tried again in 0:01:30)"),
        (ProviderUnavailable(retry_after=60, reason="busy"), "(tried again in 0:01:0"),
        (LeaseLost("The worker is stopping."), "(queued again)"),
    ],
)
def test_a_job_that_waits_says_until_when(line, error, follows):
    assert follows in line(raising(error))


def test_a_lost_job_says_when_it_is_tried_again(line):
    said = line(lambda job: End(job, Outcome.LOST, error=LeaseLost("Its worker is gone.")))

    assert "(tried again in " in said


def test_the_third_loss_is_the_last(line):
    lost = lambda job: End(job, Outcome.LOST, error=LeaseLost("Its worker is gone."))  # noqa: E731

    def third(job):
        Chore.objects.update(interruptions=2)
        return lost(job)

    assert line(third).endswith("(given up: not tried again)")


def test_a_success_is_followed_by_nothing(line):
    assert line(lambda job: End(job, Outcome.SUCCEEDED)) == "succeeded"
