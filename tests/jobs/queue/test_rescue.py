from datetime import timedelta

import pytest
from django.db.models.functions import Now

from jobs import queue
from jobs.models import Attempt, Status
from jobs.queue import settling
from tests.jobs.conftest import expire_lease, make_due, new_chore
from tests.testapp.models import Chore, HookCall, Hooked

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_abandoned_job_is_queued_again_as_an_interruption(slow_worker, chore):
    expire_lease(slow_worker.claim_one())

    [end] = queue.rescue(Chore)

    row = Chore.objects.annotate(now=Now()).get()
    assert (row.status, row.attempts, row.interruptions) == (Status.QUEUED, 0, 1)
    assert row.epoch == 2
    assert row.run_after - row.now < timedelta(seconds=2)
    assert "slow" in row.last_error
    assert Attempt.objects.get().outcome == end.outcome == "lost"


def test_a_job_whose_lease_holds_is_not_rescued(slow_worker, chore):
    slow_worker.claim_one()

    assert queue.rescue(Chore) == []
    assert Chore.objects.get().status == Status.PROCESSING


def test_a_beat_that_comes_just_in_time_prevents_the_rescue(slow_worker, chore, monkeypatch):
    held = slow_worker.claim_one()
    expire_lease(held)
    settle = queue.settle

    def beat_first(ends, expected):
        queue.beat(Chore, {held.id: held.epoch}, "slow", timedelta(seconds=60))
        return settle(ends, expected)

    monkeypatch.setattr(settling, "settle", beat_first)

    assert queue.rescue(Chore) == []
    assert Chore.objects.get().status == Status.PROCESSING


def test_the_third_interruption_fails_the_job_as_poison(slow_worker):
    queue.enqueue([Hooked(name="poison")])
    for suspect in (False, False, True):
        [job] = slow_worker.claim(Hooked, suspect=suspect)
        expire_lease(job)
        queue.rescue(Hooked)
        make_due(job)

    row = Hooked.objects.get()
    assert (row.status, row.interruptions, row.attempts) == (Status.FAILED, 3, 0)
    assert row.error_kind == "Poisonous"
    assert HookCall.objects.filter(hook="on_failure").count() == 1


def test_rescuing_twice_counts_once(slow_worker, chore):
    expire_lease(slow_worker.claim_one())

    queue.rescue(Chore)

    assert queue.rescue(Chore) == []
    assert Chore.objects.get().interruptions == 1


def test_a_success_after_a_rescue_keeps_the_interruptions_for_the_record(
    slow_worker, worker, chore
):
    expire_lease(slow_worker.claim_one())
    queue.rescue(Chore)
    make_due(chore)

    worker.succeed(worker.claim_one())

    row = Chore.objects.get()
    assert (row.status, row.interruptions) == (Status.SUCCEEDED, 1)


def test_jobs_of_living_workers_are_left_out(slow_worker, worker):
    new_chore("abandoned")
    expire_lease(slow_worker.claim_one())
    new_chore("held")
    worker.claim_one()

    [end] = queue.rescue(Chore)

    assert end.job.name == "abandoned"
