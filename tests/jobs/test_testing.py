"""`jobs.testing`, for the tests of other projects."""

import pytest

from jobs import queue
from jobs.testing import perform_due
from tests.jobs.conftest import new_chore
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db


def test_due_jobs_are_performed_and_settled_with_their_hooks():
    chore = new_chore("sweep")

    assert perform_due(Chore) == 1

    chore.refresh_from_db()
    assert chore.status == "succeeded"
    assert perform_due(Chore) == 0


def test_an_error_ends_a_job_as_in_a_worker(monkeypatch):
    chore = new_chore("sweep", max_attempts=1)
    monkeypatch.setattr(Chore, "perform", lambda self, run: 1 / 0)

    perform_due(Chore)

    chore.refresh_from_db()
    assert (chore.status, chore.error_kind) == ("failed", "ZeroDivisionError")


def test_no_more_than_asked_for_are_performed():
    queue.enqueue([Chore(name=name) for name in "abc"])

    assert perform_due(Chore, 2) == 2
