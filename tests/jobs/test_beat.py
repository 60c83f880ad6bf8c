from datetime import timedelta

import pytest

from jobs import queue
from tests.jobs.conftest import expire_lease, new_chore
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)

LONGER = timedelta(seconds=600)


def test_a_beat_extends_the_lease(worker, chore):
    job = worker.claim_one()
    before = Chore.objects.get().lease_expires_at

    assert queue.beat(Chore, {job.id: job.epoch}, LONGER) == {job.id}
    assert Chore.objects.get().lease_expires_at - before > timedelta(seconds=500)


def test_a_beat_under_an_old_epoch_extends_nothing(slow_worker, worker, chore):
    held = slow_worker.claim_one()
    expire_lease(held)
    queue.rescue(Chore)
    Chore.objects.update(run_after="2020-01-01T00:00Z")
    worker.claim_one()
    before = Chore.objects.get().lease_expires_at

    assert queue.beat(Chore, {held.id: held.epoch}, LONGER) == set()
    assert Chore.objects.get().lease_expires_at == before


def test_a_beat_says_which_of_many_are_still_held(worker):
    for name in "abc":
        new_chore(name)
    a, b, c = worker.claim(slots=3)
    worker.succeed(b)

    claims = {job.id: job.epoch for job in (a, b, c)}

    assert queue.beat(Chore, claims, LONGER) == {a.id, c.id}


def test_a_beat_leaves_the_rest_of_the_row_alone(worker, chore):
    job = worker.claim_one()
    before = Chore.objects.values().get()

    queue.beat(Chore, {job.id: job.epoch}, LONGER)

    after = Chore.objects.values().get()
    assert {name for name in after if after[name] != before[name]} == {"lease_expires_at"}
