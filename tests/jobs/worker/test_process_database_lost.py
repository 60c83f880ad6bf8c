import time

import pytest
from django.db import connection

from jobs.worker.heartbeat import BLOCKED
from tests.jobs import databases, processes
from tests.jobs.databases import crash
from tests.jobs.processes import (
    SHORT,
    all_ended,
    assert_each_done_once,
    count_begun,
    count_effects,
    count_processing,
    enqueue_chores,
    outcomes_of,
    prelude,
    wait_until,
    wait_until_all_ended_in_time,
)
from tests.testapp.models import Chore

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]
cluster, proxy, start = databases.cluster, databases.proxy, processes.start

OUTAGE = 2  # seconds; long enough for several failed attempts to connect
# A job that needs the database meanwhile ends with the same words, but not as a warning.
OUTAGE_BEGINS = "WARNING The database can't be used"
# Limits the wait before a job that found no database is retried.
COME_BACK_SOON = prelude("Chore.backoff_cap = timedelta(seconds=10)")


def test_a_worker_comes_back_by_itself_after_postgresql_crashed(cluster, start):
    ids = enqueue_chores(2) + enqueue_chores(2, script="query_then_wait")
    ids += enqueue_chores(15) + enqueue_chores(15, script="query_then_wait")
    worker = start(before=COME_BACK_SOON, gate=True)
    wait_until(lambda: count_processing() == 4 and count_begun() == 2)

    crash(cluster)
    worker.open_gate()  # the four jobs end while there is no database
    wait_until(lambda: OUTAGE_BEGINS in worker.log)
    time.sleep(OUTAGE)
    cluster.start()
    wait_until(all_ended)

    assert not worker.has_ended
    assert worker.log.count(OUTAGE_BEGINS) == 1
    assert worker.log.count("The database is back") == 1
    assert_each_done_once(ids)
    assert set(Chore.objects.values_list("attempts", flat=True)) == {0}


@pytest.mark.long
def test_a_worker_started_without_a_database_says_so_once_and_begins_when_it_comes(cluster, start):
    connection.close()
    cluster.stop()

    worker = start()
    wait_until(lambda: OUTAGE_BEGINS in worker.log)
    time.sleep(OUTAGE)
    cluster.start()
    ids = enqueue_chores(4)
    wait_until(all_ended)

    assert_each_done_once(ids)
    assert worker.log.count(OUTAGE_BEGINS) == 1
    assert "Traceback" not in worker.log


def test_an_idle_worker_can_be_stopped_while_the_database_is_down(start, tmp_path):
    worker = start(url=f"postgresql:///{tmp_path}/nothing")
    wait_until(lambda: "The database can't be used" in worker.log)

    worker.terminate()

    assert worker.exit_code() == 0
    assert "Traceback" not in worker.log


@pytest.mark.long
def test_terminated_connections_are_replaced_and_nothing_is_lost(start):
    ids = enqueue_chores(40, 0.2) + enqueue_chores(40, 0.2, "query_then_wait")
    worker = start(before=COME_BACK_SOON)

    for done in range(10, 60, 10):
        wait_until(lambda done=done: count_effects() >= done)
        wait_until(terminate_other_connections)
    wait_until(all_ended)

    assert not worker.has_ended
    assert_each_done_once(ids)
    assert set(Chore.objects.values_list("attempts", "interruptions")) == {(0, 0)}


@pytest.mark.long
def test_a_session_on_a_server_that_became_a_standby_is_given_to_no_other_job(start):
    [id] = enqueue_chores(1, script="meet_standby")
    start(before=COME_BACK_SOON)

    wait_until(all_ended)

    assert outcomes_of(id) == ["unavailable", "succeeded"]
    assert Chore.objects.get().attempts == 0


def terminate_other_connections():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return cursor.fetchone()[0]


@pytest.mark.long
def test_a_worker_whose_connections_block_for_ever_ends_and_another_does_its_jobs(proxy, start):
    ids = enqueue_chores(3, script="sign")
    blocked = start(url=proxy.url, lease=SHORT, gate=True)
    wait_until(lambda: count_begun() == 3)

    proxy.is_silent = True

    assert blocked.exit_code() == BLOCKED
    assert "no answer" in blocked.log
    start(lease=SHORT)
    wait_until_all_ended_in_time()
    assert_each_done_once(ids)
    assert all(outcomes_of(id) == ["lost", "succeeded"] for id in ids)
