import time

import pytest
from django.db import connection, transaction

from jobs.models import Status
from tests.jobs import processes
from tests.jobs.processes import (
    SHORT,
    all_ended,
    assert_each_done_once,
    count_begun,
    enqueue_chores,
    outcomes_of,
    wait_until,
)
from tests.testapp.models import Chore, Effect

pytestmark = pytest.mark.django_db(transaction=True)
start = processes.start


def test_a_worker_paused_past_its_lease_writes_nothing_and_lives_on(start):
    [id] = enqueue_chores(1, script="sign")
    slow = start(lease=SHORT, gate=True)
    wait_until(count_begun)
    slow.pause()
    slow.open_gate()
    quick = start(gate=True)
    wait_until(quick.jobs.exists)

    slow.resume()  # now it has a result for a job that `quick` holds
    wait_until(lambda: "the claim was gone: dropped" in slow.log)
    job = Chore.objects.get()
    assert job.status == Status.PROCESSING
    assert quick.jobs.exists()
    assert not Effect.objects.exists()

    quick.open_gate()
    wait_until(all_ended)
    assert_each_done_once([id])
    assert outcomes_of(id) == ["lost", "succeeded"]
    assert Effect.objects.get().result == str(quick.process.pid)
    assert "dropped" not in quick.log

    quick.kill()
    [later] = enqueue_chores(1, script="sign")
    wait_until(all_ended)
    assert Effect.objects.get(job_id=later).result == str(slow.process.pid)
    assert not slow.has_ended


@pytest.mark.long
def test_a_worker_paused_while_another_finished_its_job_writes_nothing(start):
    [id] = enqueue_chores(1, script="sign")
    slow = start(lease=SHORT, gate=True)
    wait_until(count_begun)
    slow.pause()
    quick = start()
    wait_until(all_ended)

    slow.open_gate()
    slow.resume()
    wait_until(lambda: "the claim was gone: dropped" in slow.log)

    assert_each_done_once([id])
    assert Effect.objects.get().result == str(quick.process.pid)


@pytest.mark.long
@pytest.mark.postgres
def test_a_worker_paused_while_it_waits_for_the_database_lives_on(start):
    worker = start(lease=SHORT)
    wait_until(lambda: worker.is_listed)

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE job_workers")
        wait_until(lambda: is_paused_while_it_waits(worker))
        time.sleep(SHORT * 1.5)
    worker.resume()

    ids = enqueue_chores(1)
    wait_until(all_ended)
    assert_each_done_once(ids)
    assert not worker.has_ended


def is_paused_while_it_waits(worker):
    if is_waiting_for_a_lock():
        worker.pause()
        if is_waiting_for_a_lock():
            return True
        worker.resume()  # let it run until the next try
    return False


def is_waiting_for_a_lock():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) > 0 FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return cursor.fetchone()[0]
