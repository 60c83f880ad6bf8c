from datetime import timedelta

import pytest
from django.db import connection, transaction

from jobs import queue
from tests.jobs.conftest import expire_lease, in_another_thread, new_chore
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)

LONGER = timedelta(seconds=600)


def test_a_beat_extends_the_lease(worker, chore):
    job = worker.claim_one()
    before = Chore.objects.get().lease_expires_at

    assert queue.beat(Chore, {job.id: job.epoch}, "fast", LONGER) == {job.id}
    assert Chore.objects.get().lease_expires_at - before > timedelta(seconds=500)


def test_a_beat_under_an_old_epoch_extends_nothing(slow_worker, worker, chore):
    held = slow_worker.claim_one()
    expire_lease(held)
    queue.rescue(Chore)
    Chore.objects.update(run_after="2020-01-01T00:00Z")
    worker.claim_one()
    before = Chore.objects.get().lease_expires_at

    assert queue.beat(Chore, {held.id: held.epoch}, "slow", LONGER) == set()
    assert Chore.objects.get().lease_expires_at == before


def test_a_beat_of_another_worker_with_the_same_epoch_extends_nothing(worker, chore):
    job = worker.claim_one()
    before = Chore.objects.get().lease_expires_at

    assert queue.beat(Chore, {job.id: job.epoch}, "slow", LONGER) == set()
    assert Chore.objects.get().lease_expires_at == before


def test_a_beat_says_which_of_many_are_still_held(worker):
    for name in "abc":
        new_chore(name)
    a, b, c = worker.claim(slots=3)
    worker.succeed(b)

    claims = {job.id: job.epoch for job in (a, b, c)}

    assert queue.beat(Chore, claims, "fast", LONGER) == {a.id, c.id}


def test_a_beat_leaves_the_rest_of_the_row_alone(worker, chore):
    job = worker.claim_one()
    before = Chore.objects.values().get()

    queue.beat(Chore, {job.id: job.epoch}, "fast", LONGER)

    after = Chore.objects.values().get()
    assert {name for name in after if after[name] != before[name]} == {"lease_expires_at"}


@pytest.mark.postgres
def test_a_row_that_somebody_has_locked_does_not_stop_the_beat_of_the_others(worker):
    new_chore("free")
    new_chore("locked")
    free, locked = sorted(worker.claim(slots=2), key=lambda job: job.name)
    claims = {free.id: free.epoch, locked.id: locked.epoch}

    with transaction.atomic():
        Chore.objects.select_for_update().get(id=locked.id)
        ours = in_another_thread(lambda: queue.beat(Chore, claims, "fast", LONGER))

    assert ours == {free.id, locked.id}
    assert Chore.objects.get(id=free.id).lease_expires_at > (
        Chore.objects.get(id=locked.id).lease_expires_at
    )


@pytest.mark.postgres
def test_beats_touch_no_index(worker, chore):
    job = worker.claim_one()
    before = chore_updates()

    for _ in range(20):
        queue.beat(Chore, {job.id: job.epoch}, "fast", LONGER)

    updates, hot, new_page = (now - then for now, then in zip(chore_updates(), before, strict=True))
    # Another session's snapshot keeps dead rows: then the page is full, and the row moves to a new
    # one, whatever its indexes are.
    assert updates == hot + new_page == 20
    assert hot > new_page


def chore_updates():
    """The updates of chores so far: all, those that touched no index, those to a new page."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd, n_tup_newpage_upd"
            " FROM pg_stat_user_tables WHERE relname = 'chores'"
        )
        return cursor.fetchone()
